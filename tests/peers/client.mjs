// The official TypeScript client library drives a server over Streamable HTTP: node client.mjs URL. Prints one line of JSON.

import { resultFromTaskOutcome, withTasks } from "@modelcontextprotocol/ext-tasks/client";

const url = process.argv[2];
const EXTENSION = "io.modelcontextprotocol/tasks";
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "ext-tasks", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {}, extensions: { [EXTENSION]: {} } },
};
const NAMED = { "tools/call": "name", "tasks/get": "taskId", "tasks/update": "taskId", "tasks/cancel": "taskId" };
const seen = [];
let id = 0;

// The library leaves the transport to its host, also the metadata of each request and its headers.
async function dispatch(request, options) {
  const params = { ...request.params, _meta: { ...request.params?._meta, ...META } };
  seen.push(request.method);
  // The library names the task of a `tasks/*` request itself, and its host the rest.
  const headers = new Headers(options?.context?.headers);
  const named = NAMED[request.method];
  if (named) headers.set("mcp-name", params[named]);
  headers.set("mcp-method", request.method);
  headers.set("mcp-protocol-version", "2026-07-28");
  headers.set("content-type", "application/json");
  headers.set("accept", "application/json, text/event-stream");
  const body = JSON.stringify({ jsonrpc: "2.0", id: (id += 1), method: request.method, params });
  const answer = await (await fetch(url, { method: "POST", headers, body, signal: options?.signal })).json();
  return answer.error ? { kind: "error", error: answer.error } : { kind: "result", result: answer.result };
}

const discovered = await dispatch({ method: "server/discover", params: {} });
const port = {
  endpointId: "peer",
  taskCapabilities: { generation: "v2", capabilities: discovered.result.capabilities.extensions[EXTENSION] },
  dispatch,
  onServerRequest: () => () => {},
  onNotification: () => () => {},
  onInvalidated: () => () => {},
  invalidated: false,
};
let asked = 0;
const session = withTasks(port, {
  onInputRequest: async () => {
    asked += 1;
    return { action: "accept", content: { confirm: true } };
  },
});

async function call(name, args, then) {
  const execution = await session.callTool(name, args);
  await then?.(execution);
  const { outcome } = await execution.settle();
  try {
    return { kind: execution.kind, text: resultFromTaskOutcome(outcome).content[0].text };
  } catch (error) {
    return { kind: execution.kind, error: error.name };
  }
}

const plain = await call("greet", { name: "Ada" });
const result = await call("slow_compute", { seconds: 1 });
const question = await call("confirm_delete", { filename: "a.txt" });
const cancelled = await call("slow_compute", { seconds: 60 }, (execution) => execution.cancel());
await session.close();
console.log(JSON.stringify({ plain, result, question, cancelled, asked, methods: [...new Set(seen)].sort() }));
