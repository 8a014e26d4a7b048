import type { A2AStreamEvent } from "@assistant-ui/react-a2a";
import { agentUrl } from "./agent";
import type { Credentials } from "./credentials";
import { list, object, text, type Json } from "./json";

/**
 * Rules of A2A 1.0 that this page holds its agent to, as one client among others.
 *
 * It has no rights and asks no model: it reads the card and the list, sends requests that must be refused, and looks at
 * the events of the turn on the screen. Most rules need tasks of their own, which cost tokens and stand in the list of
 * conversations afterwards: those are the command's, `platform-engineer conformance`. Names and sections are the same.
 */
export interface Rule {
  name: string;
  section: string;
  look: (seen: Seen) => Promise<string> | string;
}

export interface Verdict {
  rule: Rule;
  outcome: "pass" | "fail" | "skipped";
  /** What the agent did instead, or why nobody looked. */
  reason: string;
}

export interface Seen {
  credentials: Credentials;
  events: readonly A2AStreamEvent[];
}

class Skipped extends Error {}

const REQUIRED = ["name", "description", "version", "capabilities", "defaultInputModes", "defaultOutputModes", "skills"];
const PARSE_ERROR = -32700;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const TASK_NOT_FOUND = -32001;
const VERSION_NOT_SUPPORTED = -32009;
const UNREACHABLE = "the agent cannot be reached";
const NOBODY = "00000000-0000-4000-8000-000000000000";

export const RULES: readonly Rule[] = [
  { name: "the card has what clients need", section: "4.4.1", look: card },
  { name: "an unknown task is not found", section: "3.1.3", look: (seen) => refused(seen, { method: "GetTask", params: { id: NOBODY } }, TASK_NOT_FOUND) },
  { name: "a list says how many there are, and its next page", section: "3.1.4", look: async (seen) => missing(await tasks(seen), ["nextPageToken", "pageSize", "totalSize"]) },
  { name: "tasks are listed without artifacts", section: "3.1.4", look: async (seen) => (list((await tasks(seen))["tasks"]).some((task) => list(object(task)?.["artifacts"]).length) ? "artifacts were sent although nobody asked for them" : "") },
  { name: "a page is no larger than asked for", section: "3.1.4", look: async (seen) => tooMany(list((await tasks(seen))["tasks"]).length) },
  { name: "an unknown version is refused", section: "3.6.2", look: (seen) => refused(seen, { method: "GetTask", params: { id: NOBODY } }, VERSION_NOT_SUPPORTED, "99.0") },
  { name: "malformed JSON is a parse error", section: "9.5", look: (seen) => refused(seen, '{"jsonrpc": "2.0", ', PARSE_ERROR) },
  { name: "an unknown method is not found", section: "9.5", look: (seen) => refused(seen, { method: "NoSuchMethod", params: {} }, METHOD_NOT_FOUND) },
  { name: "a message without parts is refused", section: "3.3.2", look: (seen) => refused(seen, { method: "SendMessage", params: { message: { messageId: "conformance", role: "ROLE_USER", parts: [] } } }, INVALID_PARAMS) },
  { name: "the id of a JSON-RPC request comes back", section: "9.1", look: sameId },
  { name: "a stream begins with its task, or is one message", section: "3.1.2", look: (seen) => beginsRight(stream(seen)) },
  { name: "a stream is about one task", section: "4.2.1", look: (seen) => oneTask(stream(seen)) },
  { name: "chunks append to what exists", section: "4.2.2", look: (seen) => appends(stream(seen)) },
];

/** Look at one rule after the other. */
export async function* keptRules(seen: Seen): AsyncGenerator<Verdict> {
  for (const rule of RULES) {
    try {
      const reason = await rule.look(seen);
      yield { rule, outcome: reason ? "fail" : "pass", reason };
    } catch (error) {
      if (error instanceof Skipped) yield { rule, outcome: "skipped", reason: error.message };
      else if (error instanceof SyntaxError) yield { rule, outcome: "fail", reason: "the agent did not answer with JSON" };
      else yield { rule, outcome: "skipped", reason: UNREACHABLE };
    }
  }
}

async function card(): Promise<string> {
  return missing(await told(await fetch(`${agentUrl()}/.well-known/agent-card.json`)), REQUIRED);
}

function missing(told: Json, names: readonly string[]): string {
  const left = names.filter((name) => !(name in told));
  return left.length ? `${left.join(", ")} is missing` : "";
}

function tooMany(found: number): string {
  return found > 1 ? `a page of 1 holds ${found} tasks` : "";
}

async function tasks(seen: Seen): Promise<Json> {
  const result = object((await rpc(seen, { method: "ListTasks", params: { pageSize: 1 } }))["result"]);
  if (!result) throw new Skipped("the agent lists no tasks");
  return result;
}

async function refused(seen: Seen, request: Json | string, code: number, version?: string): Promise<string> {
  const got = object((await rpc(seen, request, version))["error"])?.["code"];
  if (got === code) return "";
  return got === undefined ? `it was answered in place of error ${code}` : `error ${JSON.stringify(got)} in place of ${code}`;
}

async function sameId(seen: Seen): Promise<string> {
  const answer = await rpc(seen, { id: "seven", method: "GetTask", params: { id: NOBODY } });
  return answer["id"] === "seven" ? "" : "another id came back";
}

async function rpc(seen: Seen, request: Json | string, version = "1.0"): Promise<Json> {
  const answer = await fetch(`${agentUrl()}/`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "A2A-Version": version, ...seen.credentials.headers() },
    body: typeof request === "string" ? request : JSON.stringify({ jsonrpc: "2.0", id: 1, ...request }),
  });
  if (answer.status === 401 || answer.status === 403) throw new Skipped("the agent wants to know who asks");
  return told(answer);
}

/** What the agent answered. A gateway that answers in its place says nothing of it. */
async function told(answer: Response): Promise<Json> {
  if (answer.status >= 502 && answer.status <= 504) throw new Skipped(UNREACHABLE);
  return object(await answer.json()) ?? {};
}

/** The stream on the screen; one that was taken up after a reload begins in its middle. */
function stream(seen: Seen): readonly A2AStreamEvent[] {
  if (!seen.events.length) throw new Skipped("no stream was read here: ask something first");
  return seen.events;
}

function beginsRight(events: readonly A2AStreamEvent[]): string {
  const first = events[0]?.type ?? "";
  if (first === "message" && events.length > 1) return "more events follow a message";
  return first === "task" || first === "message" ? "" : `the first event is ${first}`;
}

function oneTask(events: readonly A2AStreamEvent[]): string {
  const ids = new Set(events.map((event) => (event.type === "task" ? event.task.id : event.type === "message" ? "" : text(event.event.taskId))).filter(Boolean));
  return ids.size > 1 ? `it names ${ids.size} tasks` : "";
}

function appends(events: readonly A2AStreamEvent[]): string {
  const known = new Set<string>();
  for (const event of events) {
    if (event.type === "task") for (const artifact of event.task.artifacts ?? []) known.add(artifact.artifactId);
    if (event.type !== "artifactUpdate") continue;
    const { artifact, append } = event.event;
    if (append && !known.has(artifact.artifactId)) return `a chunk appends to ${artifact.artifactId}, which was not begun`;
    known.add(artifact.artifactId);
  }
  return "";
}
