import type { A2ATask, A2ATaskState } from "@assistant-ui/react-a2a";
import { refusal } from "../wire/agent";
import type { Credentials } from "../wire/credentials";
import { settled } from "../wire/follow";
import { listTasks } from "../wire/tasks";
import { answerText } from "../turn/parts";
import { name } from "../turn/visible";
import type { Names } from "./names";

export type Badge = "" | "working" | "waiting" | "failed";

export interface Listed {
  id: string;
  title: string;
  badge: Badge;
  last: Date;
}

export interface LibraryShown {
  entries: readonly Listed[];
  more: boolean;
  stage: "loading" | "ready" | "unreachable" | "unauthenticated";
}

const PAGE = 100;

/** The conversations that the agent has, newest first, from its list of tasks. */
export class Library {
  private tasks = new Map<string, A2ATask>();
  private next = "";
  private shown: LibraryShown = { entries: [], more: false, stage: "loading" };
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly credentials: Credentials,
    private readonly names: Names,
  ) {}

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly snapshot = (): LibraryShown => this.shown;

  /** Look again at the newest tasks. */
  async refresh(): Promise<void> {
    await this.read("");
  }

  /** Read the next older ones. */
  async older(): Promise<void> {
    if (this.next) await this.read(this.next);
  }

  rename(id: string, title: string): void {
    this.names.set(id, title);
    this.show(this.shown.stage);
  }

  private async read(pageToken: string): Promise<void> {
    try {
      const page = await listTasks(this.credentials, { pageSize: PAGE, ...(pageToken ? { pageToken } : {}) });
      for (const task of page.tasks) this.tasks.set(task.id, task);
      if (pageToken || this.shown.stage !== "ready") this.next = page.next;
      this.show("ready");
    } catch (error) {
      this.show(refusal(error) === "unauthenticated" ? "unauthenticated" : "unreachable");
    }
  }

  private show(stage: LibraryShown["stage"]): void {
    this.shown = { entries: listed([...this.tasks.values()], this.names), more: this.next !== "", stage };
    for (const listener of this.listeners) listener();
  }
}

/** Tasks by conversation: each is called what was asked first, and is as its newest task is. */
export function listed(tasks: readonly A2ATask[], names: Names): Listed[] {
  const byContext = new Map<string, A2ATask[]>();
  for (const task of tasks) {
    const found = byContext.get(task.contextId ?? "");
    if (found) found.push(task);
    else byContext.set(task.contextId ?? "", [task]);
  }
  const entries = [...byContext].map(([id, found]) => {
    const ordered = found.sort((one, other) => stamp(one) - stamp(other));
    const newest = ordered.at(-1);
    return {
      id,
      title: names.get(id) || title(ordered[0]) || "Conversation",
      badge: badge(newest?.status.state ?? "completed"),
      last: new Date(newest ? stamp(newest) : 0),
    };
  });
  return entries.sort((one, other) => other.last.getTime() - one.last.getTime());
}

function stamp(task: A2ATask): number {
  return new Date(task.status.timestamp ?? 0).getTime();
}

function title(task: A2ATask | undefined): string {
  const asked = task?.history?.find((message) => message.role === "user");
  return asked ? name(answerText(asked.parts) || "A file", 90) : "";
}

function badge(state: A2ATaskState): Badge {
  if (state === "input_required" || state === "auth_required") return "waiting";
  if (!settled(state)) return "working";
  return state === "failed" || state === "rejected" ? "failed" : "";
}
