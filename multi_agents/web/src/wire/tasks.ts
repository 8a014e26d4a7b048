import type { A2AMessage, A2ATask, A2ATaskState } from "@assistant-ui/react-a2a";
import { agentUrl, NO_REDIRECT, refusedWith } from "./agent";
import type { Credentials } from "./credentials";
import { list, object, text } from "./json";

export interface TaskQuery {
  contextId?: string;
  pageSize: number;
  pageToken?: string;
  includeArtifacts?: boolean;
}

export interface TaskPage {
  tasks: A2ATask[];
  next: string;
}

/**
 * A page of the agent's tasks, newest first.
 *
 * The client library spells the parameters of this one operation with underscores, which the protocol's HTTP+JSON
 * binding does not know: an agent would then list the tasks of every conversation.
 */
export async function listTasks(credentials: Credentials, query: TaskQuery, signal?: AbortSignal): Promise<TaskPage> {
  const parameters = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
  const answer = await fetch(`${agentUrl()}/rest/tasks?${parameters.toString()}`, {
    ...NO_REDIRECT,
    signal: signal ?? null,
    headers: { Accept: "application/json", "A2A-Version": "1.0", ...credentials.headers() },
  });
  const told = object(await answer.json().catch(() => undefined)) ?? {};
  if (!answer.ok) throw refusedWith(answer, told);
  return { tasks: list(told["tasks"]).flatMap(task), next: text(told["nextPageToken"]) };
}

/** As many of the agent's tasks as a page was asked for: where they are large, an agent answers with shorter pages. */
export async function newestTasks(credentials: Credentials, query: TaskQuery): Promise<TaskPage> {
  const tasks: A2ATask[] = [];
  let next = query.pageToken ?? "";
  do {
    const rest = { ...query, pageSize: query.pageSize - tasks.length };
    const page = await listTasks(credentials, next ? { ...rest, pageToken: next } : rest);
    tasks.push(...page.tasks);
    next = page.tasks.length ? page.next : "";
  } while (next && tasks.length < query.pageSize);
  return { tasks, next };
}

function task(value: unknown): A2ATask[] {
  const told = object(value);
  const status = object(told?.["status"]);
  if (!told || !status || !text(told["id"])) return [];
  const asked = message(status["message"]);
  return [
    {
      ...(told as unknown as A2ATask),
      status: { ...status, state: state(text(status["state"])), message: asked[0] },
      history: list(told["history"]).flatMap(message),
    },
  ];
}

function message(value: unknown): A2AMessage[] {
  const told = object(value);
  if (!told || !Array.isArray(told["parts"])) return [];
  const role = told["role"] === "ROLE_USER" ? "user" : "agent";
  return [{ ...(told as unknown as A2AMessage), role, parts: told["parts"].filter((part) => object(part)).map(withoutEmpty) }];
}

/** A list names the fields that are not set, too. */
function withoutEmpty(part: A2AMessage["parts"][number]): A2AMessage["parts"][number] {
  return Object.fromEntries(Object.entries(part).filter(([name, value]) => name === "text" || value !== "")) as typeof part;
}

function state(name: string): A2ATaskState {
  return name.replace("TASK_STATE_", "").toLowerCase() as A2ATaskState;
}
