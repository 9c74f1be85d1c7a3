"""Faults that other implementations had, planted into right answers: each is found."""

import copy
import unittest
from pathlib import Path

from schema import EXTENSION, Schema, problems_of

SCHEMA = Schema(Path(__file__).resolve().parents[2] / "generated/src/v2026_07_28/schema.json")
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
TASK = {
    "taskId": "t",
    "createdAt": "2026-08-03T09:00:00.000Z",
    "lastUpdatedAt": "2026-08-03T09:00:01.000Z",
    "ttlMs": 60000,
    "pollIntervalMs": 500,
}
REQUEST = {"method": "elicitation/create", "params": {"message": "?", "requestedSchema": {"type": "object", "properties": {}}}}
STATES = {
    "working": {},
    "input_required": {"inputRequests": {"k": REQUEST}},
    "completed": {"result": {"content": [{"type": "text", "text": "a"}], "resultType": "complete"}},
    "failed": {"error": {"code": -32603, "message": "internal error"}},
    "cancelled": {},
}


def answer(method, result=None, error=None, status=200):
    params = {"taskId": "t", "_meta": {CAPABILITIES: {"extensions": {EXTENSION: {}}}}}
    message = {"jsonrpc": "2.0", "id": 1} | ({"result": result} if error is None else {"error": error})
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return {"request": request, "status": status, "messages": [message]}


def state(status):
    return answer("tasks/get", {"resultType": "complete", "status": status, **TASK, **STATES[status]})


CREATED = answer("tools/call", {"resultType": "task", "status": "working", **TASK})
CANCELLED = answer("tasks/cancel", {"resultType": "complete"})
MISSING = {"code": -32021, "message": "no", "data": {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}}
REFUSED = answer("tasks/get", error=MISSING, status=400)
UNKNOWN = answer("tasks/get", error={"code": -32602, "message": "task not found"})
RIGHT = [*map(state, STATES), CREATED, CANCELLED, REFUSED, UNKNOWN]

without = lambda *names: lambda result: [result.pop(name) for name in names]
having = lambda **members: lambda result: result.update(members)

FAULTS = [
    (state("working"), without("createdAt")),
    (state("working"), without("lastUpdatedAt")),
    (state("working"), without("ttlMs")),
    (state("working"), having(status="pending")),
    (state("working"), having(result={"content": []}, error={"code": 1, "message": ""})),
    (state("working"), having(ttlMs=1.5)),
    (state("working"), having(ttlMs=-1)),
    (state("working"), having(ttlMs=0)),
    (state("working"), having(statusMessage=None)),
    (state("working"), having(createdAt="yesterday")),
    (state("working"), having(lastUpdatedAt="2026-08-03T08:59:59.000Z")),
    (state("working"), having(resultType="task")),
    (state("working"), having(taskId="other")),
    (state("input_required"), having(inputRequests={})),
    (state("input_required"), lambda result: result["inputRequests"]["k"].pop("params")),
    (state("completed"), without("result")),
    (state("failed"), having(result=None)),
    (state("failed"), without("error")),
    (state("cancelled"), having(status="completed")),
    (CREATED, having(status="completed")),
    (CREATED, without("lastUpdatedAt")),
    (CREATED, having(task={})),
    (CREATED, having(result={})),
    (CANCELLED, having(taskId="t", status="cancelled")),
    (CANCELLED, without("resultType")),
    (REFUSED, without("data")),
    (REFUSED, having(data={"requiredCapabilities": {}})),
]


class Planted(unittest.TestCase):
    def test_right_answers_pass(self):
        for exchange in RIGHT:
            found = list(problems_of(SCHEMA, exchange))
            self.assertTrue(found and all(problem is None for _, problem in found), (exchange, found))

    def test_each_fault_is_found(self):
        for exchange, plant in FAULTS:
            faulty = copy.deepcopy(exchange)
            message = faulty["messages"][0]
            plant(message.get("result") or message["error"])
            self.assertTrue(any(problem for _, problem in problems_of(SCHEMA, faulty)), faulty["messages"])

    def test_a_wrong_status_id_or_client_is_found(self):
        for exchange, change in [
            (REFUSED, {"status": 200}),
            (UNKNOWN, {"messages": [UNKNOWN["messages"][0] | {"id": None}]}),
            (UNKNOWN, {"messages": [UNKNOWN["messages"][0] | {"id": 2}]}),
            (CREATED, {"request": {"method": "tools/call", "id": 1, "params": {"_meta": {CAPABILITIES: {}}}}}),
        ]:
            self.assertTrue(any(problem for _, problem in problems_of(SCHEMA, exchange | change)), change)
