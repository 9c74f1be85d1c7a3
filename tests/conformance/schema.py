"""Holds messages against our own schema, and against what no schema says."""

import json
import re

EXTENSION = "io.modelcontextprotocol/tasks"
PAYLOADS = {"working": set(), "input_required": {"inputRequests"}, "completed": {"result"}, "failed": {"error"}, "cancelled": set()}
NAMES = {"tasks/get": "GetTaskResult", "tasks/update": "UpdateTaskResult", "tasks/cancel": "CancelTaskResult"}
STATUSES = {-32020: 400, -32021: 400, -32022: 400, -32601: 404}
TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
SIMPLE = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
SAYS_NOTHING = {"title", "description", "format"}


class Schema:
    """A validator for the keywords of our house style. A keyword that it does not know is an error of its own."""

    def __init__(self, path):
        self.defs = json.loads(path.read_text())["$defs"]

    def problem(self, name, value):
        """What is wrong with a value that should be a `name`, or None."""
        return self._check({"$ref": f"#/$defs/{name}"}, value, name)

    def _check(self, schema, value, at):
        problems = (self._keyword(keyword, operand, schema, value, at) for keyword, operand in schema.items())
        return next((problem for problem in problems if problem), None)

    def _keyword(self, keyword, operand, schema, value, at):
        check = getattr(self, "_" + keyword.replace("$", ""), None)
        if keyword in SAYS_NOTHING:
            return None
        if check is None:
            return f"{at}: the validator does not know the keyword {keyword}"
        return check(operand, schema, value, at)

    def _ref(self, operand, schema, value, at):
        return self._check(self.defs[operand.removeprefix("#/$defs/")], value, at)

    def _type(self, operand, schema, value, at):
        types = operand if isinstance(operand, list) else [operand]
        return None if any(is_a(value, one) for one in types) else f"{at}: {value!r:.60} is no {operand}"

    def _properties(self, operand, schema, value, at):
        if not isinstance(value, dict):
            return None
        found = (self._check(inner, value[name], f"{at}.{name}") for name, inner in operand.items() if name in value)
        return next((problem for problem in found if problem), None)

    def _required(self, operand, schema, value, at):
        missing = [name for name in operand if isinstance(value, dict) and name not in value]
        return f"{at}: {missing} are missing" if missing else None

    def _additionalProperties(self, operand, schema, value, at):
        if operand is True or not isinstance(value, dict):
            return None
        others = {name: inner for name, inner in value.items() if name not in schema.get("properties", {})}
        if operand is False:
            return f"{at}: {sorted(others)} are not allowed" if others else None
        found = (self._check(operand, inner, f"{at}.{name}") for name, inner in others.items())
        return next((problem for problem in found if problem), None)

    def _items(self, operand, schema, value, at):
        found = (self._check(operand, one, f"{at}[{n}]") for n, one in enumerate(value if isinstance(value, list) else []))
        return next((problem for problem in found if problem), None)

    def _const(self, operand, schema, value, at):
        return None if value == operand else f"{at}: {value!r:.60} is not {operand!r}"

    def _enum(self, operand, schema, value, at):
        return None if value in operand else f"{at}: {value!r:.60} is none of {operand}"

    def _allOf(self, operand, schema, value, at):
        return next((problem for problem in (self._check(one, value, at) for one in operand) if problem), None)

    def _anyOf(self, operand, schema, value, at):
        problems = [self._check(one, value, at) for one in operand]
        return None if None in problems else f"{at}: fits nothing: {'; '.join(problems)}"

    def _oneOf(self, operand, schema, value, at):
        problems = [self._check(one, value, at) for one in operand]
        fits = problems.count(None)
        return None if fits == 1 else f"{at}: fits {fits}: {'; '.join(filter(None, problems))}"

    def _minimum(self, operand, schema, value, at):
        return f"{at}: {value} is below {operand}" if is_a(value, "number") and value < operand else None

    def _maximum(self, operand, schema, value, at):
        return f"{at}: {value} is above {operand}" if is_a(value, "number") and value > operand else None

    def _minProperties(self, operand, schema, value, at):
        return f"{at}: too few properties" if isinstance(value, dict) and len(value) < operand else None


def is_a(value, kind):
    if kind in ("integer", "number"):
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return number and (kind == "number" or value == int(value))
    return isinstance(value, SIMPLE[kind])


def problems_of(schema, exchange):
    """(kind, problem or None) of each message of an exchange that is about tasks."""
    request, method = exchange["request"], exchange["request"].get("method")
    for message in exchange["messages"]:
        result = message.get("result")
        if message.get("method") == "notifications/tasks":
            params = message.get("params")
            yield "notification", schema.problem("TaskStatusNotificationParams", params) or beyond(params)
        elif "error" in message and (method in NAMES or message["error"].get("code") in (-32020, -32021)):
            yield "error", error(exchange, message)
        elif method in NAMES and result is not None:
            yield NAMES[method], schema.problem(NAMES[method], result) or beyond_result(method, request, result)
        elif method == "tools/call" and isinstance(result, dict) and result.get("resultType") == "task":
            yield "CreateTaskResult", schema.problem("CreateTaskResult", result) or creation(request, result)


def creation(request, result):
    meta = request.get("params", {}).get("_meta", {})
    declared = meta.get("io.modelcontextprotocol/clientCapabilities", {}).get("extensions", {})
    if EXTENSION not in declared:
        return "a task for a client that declared none"
    if result["status"] != "working":
        return "a new task that is not working"
    extra = result.keys() & {"task", "result", "error", "inputRequests"}
    return f"{sorted(extra)} in a CreateTaskResult" if extra else times(result)


def beyond_result(method, request, result):
    if method == "tasks/get":
        if result["taskId"] != request["params"]["taskId"]:
            return "another task than was asked for"
        return beyond(result)
    extra = result.keys() - {"resultType", "_meta"}
    return f"{sorted(extra)} in an acknowledgement" if extra else None


def beyond(task):
    """What no schema says: no payload of another status, nothing that is null but ttlMs, times of one form and in order."""
    payloads = task.keys() & {"inputRequests", "result", "error"}
    if payloads != PAYLOADS[task["status"]]:
        return f"{task['status']} with {sorted(payloads)}"
    nulls = [name for name, value in task.items() if value is None and name != "ttlMs"]
    return f"{nulls} are null" if nulls else times(task)


def times(task):
    if not all(TIME.match(task[name]) for name in ("createdAt", "lastUpdatedAt")):
        return "a time that is no RFC 3339 with milliseconds and Z"
    if task["lastUpdatedAt"] < task["createdAt"]:
        return "updated before it was created"
    return "an unlimited life of no length" if task["ttlMs"] == 0 else None


def error(exchange, message):
    code = message["error"].get("code")
    if not isinstance(code, int) or not isinstance(message["error"].get("message"), str):
        return "an error without code or message"
    if message.get("id", 0) is None or message.get("id") != exchange["request"].get("id"):
        return "an error under another id"
    if exchange["status"] != STATUSES.get(code, exchange["status"]):
        return f"{code} with status {exchange['status']}"
    required = message["error"].get("data", {}).get("requiredCapabilities") if code == -32021 else None
    if code == -32021 and required != {"extensions": {EXTENSION: {}}}:
        return "-32021 without the capability that is required"
    return None
