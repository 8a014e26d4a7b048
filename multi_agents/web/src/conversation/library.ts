import type { A2APart, A2ATask, A2ATaskState } from "@assistant-ui/react-a2a";
import { refusal } from "../wire/agent";
import type { Credentials } from "../wire/credentials";
import { settled } from "../wire/follow";
import type { Kept, StoredConversations } from "../wire/conversations";
import { Newest } from "../wire/newest";
import { newestTasks } from "../wire/tasks";
import { answerText } from "../turn/parts";
import { name } from "../turn/visible";
import type { Names } from "./names";
import { outbox, outboxes } from "./outbox";

export type Badge = "" | "working" | "waiting" | "failed" | "unsent";

export interface Listed {
  id: string;
  title: string;
  badge: Badge;
  last: Date;
  /** Whether only this tab has it: the agent has taken none of its messages. */
  unsent: boolean;
}

export interface LibraryShown {
  entries: readonly Listed[];
  more: boolean;
  stage: "loading" | "ready" | "unreachable" | "unauthenticated";
  /** Whether the agent deletes conversations. */
  deletes: boolean;
}

const PAGE = 100;

/** The conversations that the agent has, newest first, from its list of tasks. */
export class Library {
  private tasks = new Map<string, A2ATask>();
  /** What the agent says that conversations are called. */
  private titles = new Map<string, string>();
  private next = "";
  private nextTitles = "";
  private readonly readings = new Newest();
  /** How many titles were given from here. */
  private renamed = 0;
  private stored: StoredConversations | undefined;
  private shown: LibraryShown;
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly credentials: Credentials,
    private readonly names: Names,
    stage: LibraryShown["stage"],
  ) {
    this.shown = { entries: [], more: false, stage, deletes: false };
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly snapshot = (): LibraryShown => this.shown;

  /** Look again at the newest tasks. */
  async refresh(): Promise<void> {
    await this.read("");
  }

  /** Show also what this tab keeps to send, which has changed. */
  redraw(): void {
    this.show(this.shown.stage);
  }

  /** Read the next older ones. */
  async older(): Promise<void> {
    if (this.nextTitles) await this.readTitles(this.nextTitles);
    if (this.next) await this.read(this.next);
  }

  /** Keep titles at the agent from now on. Until then, and at agents that have no place for them, they are this browser's. */
  async use(stored: StoredConversations): Promise<void> {
    this.stored = stored;
    await this.readTitles("");
  }

  /** Read again what the newest conversations are called: another client may have renamed them. */
  async refreshTitles(): Promise<void> {
    await this.readTitles("");
  }

  /** Throws what the agent answers where it keeps the titles and does not take this one. */
  async rename(id: string, title: string): Promise<void> {
    const line = oneLine(title);
    const { titles } = this;
    if (this.stored) {
      await this.stored.rename(id, line);
      this.renamed++;
      titles.set(id, line);
    }
    this.names.set(id, this.stored ? "" : line);
    this.show(this.shown.stage);
  }

  /** Delete a conversation, and tell who keeps something of it. Throws what the agent answers where it does not. */
  async delete(id: string, hereOnly: boolean): Promise<Kept[]> {
    const stored = this.shown.entries.some((entry) => entry.id === id && entry.unsent) ? undefined : this.stored;
    const kept = (await stored?.delete(id, hereOnly)) ?? [];
    this.readings.outdate();
    for (const [taskId, task] of this.tasks) if (task.contextId === id) this.tasks.delete(taskId);
    this.names.set(id, "");
    this.titles.delete(id);
    this.show(this.shown.stage);
    return kept;
  }

  /** What the reader called a conversation; empty where it has no name. */
  readonly nameOf = (id: string): string => name(this.titles.get(id) || this.names.get(id), 200);

  /** Somebody else is at the page: nothing that was read is theirs, nor is what is being read. */
  forget(): void {
    this.tasks = new Map();
    this.titles = new Map();
    this.next = this.nextTitles = "";
    this.show("loading");
  }

  private async read(pageToken: string): Promise<void> {
    const { tasks } = this;
    const counts = pageToken ? () => true : this.readings.ask();
    try {
      const page = await newestTasks(this.credentials, { pageSize: PAGE, ...(pageToken ? { pageToken } : {}) });
      if (tasks !== this.tasks || !counts()) return;
      this.credentials.saw(page.tasks[0]?.id ?? "");
      if (!pageToken) this.forgetDeleted(page.tasks, page.next === "");
      for (const task of page.tasks) this.tasks.set(task.id, task);
      if (pageToken || this.shown.stage !== "ready") this.next = page.next;
      this.show("ready");
    } catch (error) {
      if (tasks === this.tasks && counts()) this.show(refusal(error) === "unauthenticated" ? "unauthenticated" : "unreachable");
    }
  }

  /** Tasks that are as new as those of the first page, and not among them, were deleted by another client. */
  private forgetDeleted(newest: readonly A2ATask[], all: boolean): void {
    const ids = new Set(newest.map((task) => task.id));
    const since = all ? -Infinity : Math.min(...newest.map(stamp));
    for (const [id, task] of this.tasks) if (!ids.has(id) && stamp(task) > since) this.tasks.delete(id);
  }

  private async readTitles(pageToken: string): Promise<void> {
    const { titles, renamed } = this;
    try {
      const page = await this.stored?.titles(pageToken);
      if (!page || titles !== this.titles) return;
      if (renamed !== this.renamed) return await this.readTitles(pageToken); // it may not have the new title yet
      for (const [id, title] of page.titles) this.titles.set(id, title);
      this.nextTitles = page.next;
    } catch {
      // The names that are known stay; the list itself tells when the agent cannot be reached.
    }
    this.show(this.shown.stage);
  }

  /** Conversations that the agent does not have. One that it had may be among the older ones that were not read yet. */
  private unsent(): Listed[] {
    const there = new Set([...this.tasks.values()].map((task) => task.contextId));
    const entries = outboxes().filter((id) => !there.has(id)).map((id) => unsentEntry(id, this.next === ""));
    return entries.filter((entry) => entry !== undefined);
  }

  private show(stage: LibraryShown["stage"]): void {
    const entries = [...listed([...this.tasks.values()], this.nameOf), ...this.unsent()];
    entries.sort((one, other) => other.last.getTime() - one.last.getTime());
    this.shown = { entries, more: this.next !== "", stage, deletes: this.stored !== undefined };
    for (const listener of this.listeners) listener();
  }
}

/** What was written in a conversation that the agent does not have: the first message, or one after it was deleted, was not taken. */
function unsentEntry(id: string, all: boolean): Listed | undefined {
  const [first] = outbox(id);
  if (!first || (first.continues && !all)) return undefined;
  return { id, title: titleOf(first.message.parts), badge: first.refused ? "unsent" : "working", last: new Date(first.written), unsent: true };
}

/** Tasks by conversation: each is called what was asked first, and is as its newest task is. */
export function listed(tasks: readonly A2ATask[], nameOf: (id: string) => string): Listed[] {
  const byContext = new Map<string, A2ATask[]>();
  for (const task of tasks) {
    const found = byContext.get(task.contextId ?? "");
    if (found) found.push(task);
    else byContext.set(task.contextId ?? "", [task]);
  }
  return [...byContext].map(([id, found]) => {
    const ordered = found.sort((one, other) => stamp(one) - stamp(other));
    const newest = ordered.at(-1);
    return {
      id,
      title: nameOf(id) || title(ordered[0]) || "Conversation",
      badge: badge(newest?.status.state ?? "completed"),
      last: new Date(newest ? stamp(newest) : 0),
      unsent: false,
    };
  });
}

/** As an agent takes it. */
function oneLine(title: string): string {
  return title.replace(/\s+/g, " ").trim().slice(0, 200);
}

function stamp(task: A2ATask): number {
  return new Date(task.status.timestamp ?? 0).getTime();
}

function title(task: A2ATask | undefined): string {
  const asked = task?.history?.find((message) => message.role === "user");
  return asked ? titleOf(asked.parts) : "";
}

function titleOf(parts: A2APart[]): string {
  return name(answerText(parts) || "A file", 90);
}

function badge(state: A2ATaskState): Badge {
  if (state === "input_required" || state === "auth_required") return "waiting";
  if (!settled(state)) return "working";
  return state === "failed" || state === "rejected" ? "failed" : "";
}
