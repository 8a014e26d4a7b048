import { list, number, object, text, type Json } from "./json";

/** The extensions of A2A that an agent of this project declares: docs/a2a.md describes each. */
const PREFIX = "urn:platform-engineer:ext:";
export const ACTIVITY = `${PREFIX}activity:v1`;
export const PLAN = `${ACTIVITY}/plan`;
export const TREE = `${PREFIX}tree:v1`;
export const USAGE = `${PREFIX}usage:v1`;
export const CONTEXT = `${PREFIX}context:v1`;
export const ERROR = `${PREFIX}error:v1`;
export const TRACE = `${PREFIX}trace:v1`;
export const NEXT = `${PREFIX}next:v1`;
export const QUESTION = `${PREFIX}question:v1`;
export const ARTIFACT = `${PREFIX}artifact:v1`;
export const AGENTS = `${PREFIX}agents:v1`;
export const CONVERSATIONS = `${PREFIX}conversations:v1`;
export const MEMORY = `${PREFIX}memory:v1`;

export interface PlanStep {
  id: string;
  title: string;
  agent: string;
  status: string;
  order: number;
}

export interface Tokens {
  input: number;
  output: number;
  cached: number;
  cost: number;
}

export interface ContextFill {
  kinds: [kind: string, tokens: number][];
  limit: number;
  window: number;
}

export interface TaskError {
  code: string;
  message: string;
  retryable: boolean;
  traceId: string;
}

export function readPlan(value: unknown): PlanStep[] {
  return list(object(value)?.["steps"])
    .map(object)
    .filter((step): step is Json => step !== undefined)
    .map((step) => ({
      id: text(step["id"]),
      title: text(step["title"]),
      agent: text(step["agent"]),
      status: text(step["status"], "pending"),
      order: number(step["order"]) ?? 0,
    }))
    .sort((one, other) => one.order - other.order);
}

export function readTokens(value: unknown): Tokens | undefined {
  const counts = object(value);
  if (!counts) return undefined;
  const read = (name: string): number => number(counts[name]) ?? 0;
  return { input: read("input_tokens"), output: read("output_tokens"), cached: read("cached_tokens"), cost: read("cost_usd") };
}

export function readUsage(value: unknown): [agent: string, tokens: Tokens][] {
  return Object.entries(object(value) ?? {}).flatMap(([agent, counts]) => {
    const tokens = readTokens(counts);
    return tokens ? [[agent, tokens] as [string, Tokens]] : [];
  });
}

const KINDS = ["system", "tools", "pinned", "summary", "tail"];

export function readContext(value: unknown): ContextFill | undefined {
  const told = object(value);
  const kinds = object(told?.["by_kind"]);
  const limit = number(told?.["limit"]);
  if (!kinds || !limit) return undefined;
  return {
    kinds: KINDS.map((kind) => [kind, Math.max(0, number(kinds[kind]) ?? 0)]),
    limit,
    window: number(told?.["window"]) ?? limit,
  };
}

export function readError(value: unknown): TaskError | undefined {
  const told = object(value);
  if (!told) return undefined;
  return {
    code: text(told["code"]),
    message: text(told["message"]),
    retryable: told["retryable"] === true,
    traceId: text(told["trace_id"]),
  };
}

export function readNext(value: unknown): string[] {
  return list(object(value)?.["requests"])
    .filter((request): request is string => typeof request === "string")
    .slice(0, 3);
}
