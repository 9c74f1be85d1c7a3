// Compiled against what json-schema-to-typescript makes: a status decides which members there are.

import type { GetTaskResult } from "./types";

export function payload(task: GetTaskResult): unknown {
  switch (task.status) {
    case "completed":
      return Object.keys(task.result);
    case "failed":
      return task.error.code.toFixed();
    case "input_required":
      return Object.keys(task.inputRequests);
    case "working":
    case "cancelled":
      return task.taskId.length;
    default: {
      const nothing: never = task;
      return nothing;
    }
  }
}

const common = { resultType: "complete", taskId: "t-1", createdAt: "", lastUpdatedAt: "", ttlMs: null } as const;
export const right: GetTaskResult = { ...common, status: "working" };
// @ts-expect-error there is no such status
export const wrong: GetTaskResult = { ...common, status: "pending" };
// @ts-expect-error a completed task has a result
export const without: GetTaskResult = { ...common, status: "completed" };
