import { readTokens, type Tokens } from "../wire/extensions";
import { list, number, object, text, type Json } from "../wire/json";

export type CallKind = "tool" | "agent" | "note";

/**
 * One tool call, delegation or note of the tree.
 *
 * Changed in place, since a turn may have thousands; `version` grows with every change in it or below it, so that what
 * shows it knows when to draw again.
 */
export interface Call {
  readonly key: string;
  kind: CallKind;
  label: string;
  detail: string;
  status: string;
  since: number;
  seconds?: number | undefined;
  truncated: boolean;
  result: string;
  tokens?: Tokens | undefined;
  taskId: string;
  version: number;
  readonly children: Call[];
}

const OPEN = new Set(["pending", "submitted", "working", "busy", "away"]);

/** Whether a call, or a step of a plan, goes on. */
export function isOpen(status: string): boolean {
  return OPEN.has(status);
}

/** The tree of what a turn does: activity goes in as the agents tell it. */
export class CallTree {
  readonly roots: Call[] = [];
  version = 0;
  private readonly known = new Map<string, Call>();

  constructor(private readonly clock: () => number = Date.now) {}

  get size(): number {
    return this.known.size;
  }

  /** Take in one activity payload; one that is unknown or malformed changes nothing. */
  add(payload: unknown): void {
    const told = object(payload);
    if (told) this.put([], told);
  }

  /** Take in what the tree extension knows of a task and the tasks below it. */
  addTasks(payload: unknown): void {
    this.putTasks([], object(payload));
  }

  private put(above: Call[], told: Json): void {
    const key = text(told["call_id"]);
    switch (told["kind"]) {
      case "tool_started":
        this.change(above, key, "tool", text(told["tool"]), { detail: text(told["arguments"]), status: "working" });
        break;
      case "tool_finished":
        this.change(above, key, "tool", text(told["tool"]), {
          status: told["status"] === "ok" ? "completed" : told["status"] === "error" ? "failed" : text(told["status"], "completed"),
          seconds: number(told["seconds"]),
          truncated: told["truncated"] === true,
          result: text(told["result"]),
        });
        break;
      case "delegation_started":
        this.change(above, key, "agent", text(told["agent"]), { ...(told["request"] ? { detail: text(told["request"]) } : {}), status: "working" });
        break;
      case "delegation_progress":
        this.progress(above, key, told);
        break;
      case "delegation_finished":
        this.finish(above, key, told);
        break;
      default:
        this.note(above, told);
    }
  }

  private progress(above: Call[], key: string, told: Json): void {
    const call = this.change(above, key, "agent", text(told["agent"]), {
      status: text(told["waiting"]) || text(told["state"], "working"),
      ...(number(told["seconds"]) === undefined ? {} : { seconds: number(told["seconds"]) }),
      taskId: text(told["remote_task_id"]),
    });
    const below = object(told["activity"]);
    if (below) this.put([...above, call], below);
  }

  private finish(above: Call[], key: string, told: Json): void {
    const below = object(told["below"]);
    const call = this.change(above, key, "agent", text(told["agent"]), {
      status: text(told["state"], "completed"),
      seconds: number(told["seconds"]),
      taskId: text(told["remote_task_id"]),
      ...(below?.["tokens"] ? { tokens: readTokens(below["tokens"]) } : {}),
    });
    this.putTasks([...above, call], below);
  }

  private putTasks(above: Call[], told: Json | undefined): void {
    for (const child of list(told?.["children"]).map(object)) {
      const key = text(child?.["call_id"]);
      if (!child || !key) continue;
      const call = this.change(above, key, "agent", text(child["agent"]), {
        status: text(child["state"], "working"),
        ...(child["request"] ? { detail: text(child["request"]) } : {}),
        ...(isOpen(text(child["state"], "working")) ? {} : { seconds: number(child["seconds"]) }),
        ...(child["tokens"] ? { tokens: readTokens(child["tokens"]) } : {}),
        ...(child["task_id"] ? { taskId: text(child["task_id"]) } : {}),
      });
      this.putTasks([...above, call], child);
    }
  }

  private note(above: Call[], told: Json): void {
    const found = noteOf(told);
    if (!found) return;
    const path = above.map((call) => call.key).join("/");
    const key = found.key ? `${found.key}@${path}` : `note ${this.known.size}@${path}`;
    this.change(above, key, "note", found.label, { detail: found.detail, status: "completed" });
  }

  private change(above: Call[], key: string, kind: CallKind, label: string, fields: Partial<Call>): Call {
    const parent = above.at(-1);
    const address = `${parent ? parent.key : ""} ${key}`;
    let call = this.known.get(address);
    if (!call) {
      call = { key, kind, label, detail: "", status: "working", since: this.clock(), truncated: false, result: "", taskId: "", version: 0, children: [] };
      this.known.set(address, call);
      (parent?.children ?? this.roots).push(call);
    }
    if (kind === "agent" || call.kind !== "agent") Object.assign(call, { kind, label: label || call.label });
    Object.assign(call, fields);
    for (const each of [...above, call]) each.version++;
    this.version++;
    return call;
  }
}

/** What a person reads of activity that is no call. Notes with a key replace the one before. */
function noteOf(told: Json): { key: string; label: string; detail: string } | undefined {
  const seconds = Math.round(number(told["seconds"]) ?? 0);
  switch (told["kind"]) {
    case "context_compacted": {
      const [before, after] = [number(told["tokens_before"]) ?? 0, number(told["tokens_after"]) ?? 0];
      return { key: "", label: "Context made smaller", detail: `${text(told["strategy"])}: ${before.toLocaleString("en")} to ${after.toLocaleString("en")} tokens` };
    }
    case "model_retried": {
      const label = told["fallback"] === true ? "Asking the fallback model" : "Asking the model again";
      return { key: "", label, detail: text(told["reason"]) };
    }
    case "model_waited":
      return { key: "waited", label: `Waited ${seconds} s for the model`, detail: "" };
    case "model_reasoned":
      return { key: "thinks", label: "Thinks", detail: text(told["text"]).slice(-300) };
    case "rule_changed":
      return { key: "", label: told["change"] === "unpinned" ? "Rule no longer holds" : "Rule noted", detail: text(told["text"]) };
    default:
      return undefined;
  }
}

