import type { A2AClient, A2AMessage, A2AStreamEvent, A2ATaskState } from "@assistant-ui/react-a2a";
import { refusal } from "./agent";
import { ACTIVITY } from "./extensions";
import { number, object } from "./json";
import { keepNonce, proven } from "./proof";

const SETTLED: ReadonlySet<A2ATaskState> = new Set(["completed", "failed", "canceled", "rejected", "input_required", "auth_required"]);

/** Whether nothing more comes of a task by itself: it has ended, or waits for its user. */
export function settled(state: A2ATaskState): boolean {
  return SETTLED.has(state);
}

/** What a turn begins with: a message that is sent, or a task that is under way. */
export type Beginning = Sending | { taskId: string };

export interface Sending {
  message: A2AMessage;
  /** Whether it may have been sent before, as before a reload. */
  again: boolean;
}

/** "portal": connected as soon as the reader has logged in at what stands in front of the agent. */
export type Line = "connected" | "lost" | "busy" | "portal";

const LONGEST_PAUSE = 10_000;

/** Milliseconds without an event after which the agent is asked anew: a machine that slept, or a proxy, holds a dead connection open. */
const SILENCE = 45_000;

/** Bytes of a message that the slowest line takes in a millisecond. */
const SLOWEST = 20;

/**
 * Everything that becomes of a turn, until it has ended or waits for its user.
 *
 * A stream that breaks off is taken up again: the task is fetched, and subscribed to if it still works. Where no task
 * is known yet, the same message is sent again with the same id, which the agent runs once. So it is with a stream that
 * has fallen silent, which is only then a lost line if nothing at all was heard on it.
 *
 * `mayRepeat` is asked before a message is sent again, and throws where it may not be.
 */
export async function* follow(
  client: A2AClient,
  beginning: Beginning,
  signal: AbortSignal,
  tell: (line: Line) => void,
  mayRepeat: (signal: AbortSignal) => Promise<void>,
): AsyncGenerator<A2AStreamEvent> {
  let taskId = "taskId" in beginning ? beginning.taskId : "";
  const patience = SILENCE + ("message" in beginning ? JSON.stringify(beginning.message).length / SLOWEST : 0);
  for (let tries = 0; ; tries++) {
    const listening = new Listening(signal, taskId ? SILENCE : patience);
    try {
      if (!taskId && "message" in beginning && (tries > 0 || beginning.again)) await mayRepeat(listening.signal);
      if (signal.aborted) return;
      for await (const event of begin(client, taskId, beginning, listening.signal)) {
        listening.heard();
        tell("connected");
        tries = 0;
        taskId = taskOf(event) || taskId;
        keepNonce(event);
        yield event;
        if (isLast(event)) return;
        const pause = pauseBefore(event);
        if (pause !== undefined) await sleep(pause, signal);
      }
      tell("lost");
    } catch (error) {
      if (signal.aborted) return;
      const why = refusal(error);
      if (why === "refused" || why === "unauthenticated") {
        tell("connected");
        throw error;
      }
      if (!listening.fellSilent) tell(why === "unreachable" ? "lost" : why);
    } finally {
      listening.end();
    }
    if (signal.aborted) return;
    await sleep(Math.min(LONGEST_PAUSE, 250 * 2 ** tries), signal);
  }
}

/** One request, which is given up when nothing was heard of it for a while. */
class Listening {
  private readonly controller = new AbortController();
  private readonly give = (): void => this.controller.abort();
  private timer: ReturnType<typeof setTimeout>;
  private any = false;

  constructor(
    private readonly until: AbortSignal,
    patience: number,
  ) {
    until.addEventListener("abort", this.give);
    this.timer = setTimeout(this.give, patience);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Whether it was given up after it had brought something. */
  get fellSilent(): boolean {
    return this.any && this.controller.signal.aborted;
  }

  heard(): void {
    this.any = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(this.give, SILENCE);
  }

  end(): void {
    clearTimeout(this.timer);
    this.until.removeEventListener("abort", this.give);
  }
}

async function* begin(client: A2AClient, taskId: string, beginning: Beginning, signal: AbortSignal): AsyncGenerator<A2AStreamEvent> {
  if (taskId || !("message" in beginning)) yield* resume(client, taskId, signal);
  else yield* client.streamMessage(await proven(beginning.message), undefined, undefined, signal);
}

async function* resume(client: A2AClient, taskId: string, signal: AbortSignal): AsyncGenerator<A2AStreamEvent> {
  const task = await client.getTask(taskId, undefined, signal);
  yield { type: "task", task };
  if (settled(task.status.state)) return;
  try {
    yield* client.subscribeToTask(taskId, signal);
  } catch (error) {
    if (refusal(error) !== "refused") throw error;
    const ended = await client.getTask(taskId, undefined, signal); // an agent has no events of a task that has ended since
    if (!settled(ended.status.state)) throw error;
    yield { type: "task", task: ended };
  }
}

function taskOf(event: A2AStreamEvent): string {
  if (event.type === "task") return event.task.id;
  return event.type === "message" ? (event.message.taskId ?? "") : event.event.taskId;
}

function isLast(event: A2AStreamEvent): boolean {
  if (event.type === "message") return true;
  if (event.type === "task") return settled(event.task.status.state);
  return event.type === "statusUpdate" && settled(event.event.status.state);
}

/** How long to wait where an agent that stops asks its readers to come again. */
function pauseBefore(event: A2AStreamEvent): number | undefined {
  if (event.type !== "statusUpdate") return undefined;
  const told = object(event.event.metadata?.[ACTIVITY]);
  return told?.["kind"] === "resubscribe" ? 1000 * (number(told["after_seconds"]) ?? 1) : undefined;
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(finish, milliseconds);
    function finish(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      done();
    }
    signal.addEventListener("abort", finish);
  });
}
