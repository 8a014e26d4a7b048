import { A2AError, type A2AClient, type A2AMessage, type A2APart } from "@assistant-ui/react-a2a";
import { refusal, sentence } from "../wire/agent";
import type { Credentials } from "../wire/credentials";
import { follow, type Beginning, type Line } from "../wire/follow";
import { Newest } from "../wire/newest";
import { naming, randomId } from "../wire/proof";
import { listTasks, newestTasks } from "../wire/tasks";
import { forgetDraft } from "../turn/drafts";
import type { Question } from "../turn/question";
import { Turn } from "../turn/turn";
import { mayExist } from "./address";
import { forgetAnswer, keepAnswer, sentAnswer, together, wordsOf } from "./answers";
import { itemsOf, type Item } from "./items";
import { forgetAllSent, forgetRefused, forgetSent, keepSent, outbox, refuseSent } from "./outbox";
import { keepUnsent, unsent } from "./unsent";

/** "missing": no conversation of this id is there for whoever asks. */
export type Stage = "new" | "loading" | "ready" | "missing" | "unreachable" | "unauthenticated";

/** What is shown of a conversation: a new value with every change. */
export interface Shown {
  stage: Stage;
  items: readonly Item[];
  turn: Turn | undefined;
  running: boolean;
  line: Line;
  /** How often the line was lost: a reader is told when it is back. */
  losses: number;
}

const DELETED = "This conversation was deleted elsewhere, so your message was not sent. You can send it in a new conversation: click Ask again.";
const PAUSE = 60;
/** Milliseconds: the longest wait for the answer to a cancel, and between two of them. */
const LONGEST_CANCEL = 30_000;
const LONGEST_PAUSE = 10_000;
const PAGE = 50;

/** One conversation: its turns, and the stream of the one that is under way. */
export class Conversation {
  private turns: Turn[] = [];
  private shown: Shown;
  private readonly listeners = new Set<() => void>();
  private drawing: ReturnType<typeof setTimeout> | undefined;
  /** Whether anything was ever said in it, as far as is known here. */
  private begun: boolean;
  private streams = new Map<Turn, AbortController>();
  private stopWanted = new Set<Turn>();
  private cancels = new Map<Turn, AbortController>();
  private readonly readings = new Newest();
  /** Whether it was deleted, or is somebody else's who was at the page: nothing becomes of it here any more. */
  private left = false;
  /** Puts words back into the input that the agent did not take; undefined while another conversation is open. */
  takeBack: ((words: string) => void) | undefined;

  constructor(
    readonly id: string,
    private readonly client: A2AClient,
    private readonly credentials: Credentials,
    stage: Stage,
    private readonly onSettled: () => void,
    /** Something was said or stopped here, and the agent has taken it. */
    private readonly onTaken: () => void,
  ) {
    this.begun = stage !== "new";
    this.shown = { stage, items: [], turn: undefined, running: false, line: "connected", losses: 0 };
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly snapshot = (): Shown => this.shown;

  /** Its id once something was said in it; empty before, since a reload gives a new conversation another id. */
  get place(): string {
    return this.begun ? this.id : "";
  }

  /** Read what was said so far, and follow what goes on. Tasks that are known already stay as they are. */
  async load(): Promise<void> {
    const counts = this.readings.ask();
    try {
      if (!this.credentials.identified) await this.credentials.identify();
      const there = this.taken;
      const tasks = mayExist(this.id) ? (await newestTasks(this.credentials, { contextId: this.id, includeArtifacts: true, pageSize: PAGE })).tasks : [];
      if (this.left || !counts()) return;
      this.forgetDeleted(tasks, there);
      const known = new Set(this.turns.map((turn) => turn.taskId));
      const found = tasks.filter((task) => !known.has(task.id) && !this.maySend(task)).reverse().map((task) => Turn.of(task));
      for (const turn of found) this.insert(turn, tasks, there);
      this.sendWhatWasNotTaken();
      this.refreshSettled(tasks);
      this.returnAnswer();
      this.shown = { ...this.shown, stage: this.stage };
      for (const turn of this.turns) if (turn.open && turn.taskId && !this.streams.has(turn)) void this.run(turn, { taskId: turn.taskId });
      if (this.shown.line === "portal" && !this.streams.size) this.tell("connected");
    } catch (error) {
      if (this.left || !counts()) return;
      const why = refusal(error);
      if (!this.turns.length) this.shown = { ...this.shown, stage: why === "unauthenticated" ? why : "unreachable" };
      if (why === "portal") this.tell(why);
    }
    this.draw();
  }

  /**
   * Where a turn belongs by the agent's list, newest first: what was said here while the agent was away is newer than it.
   * A message that seemed to be refused, and began it all the same, gives way.
   */
  private insert(turn: Turn, tasks: readonly { id: string }[], there: ReadonlySet<Turn>): void {
    const request = turn.history[0]?.messageId;
    this.turns = this.turns.filter((each) => each.taskId || each.history[0]?.messageId !== request);
    const age = ({ taskId }: Turn): number => tasks.findIndex((task) => task.id === taskId);
    const since = (each: Turn): boolean => this.streams.has(each) || (each.taskId !== "" && !there.has(each));
    const newer = this.turns.findIndex((each) => (since(each) || age(each) >= 0) && age(each) < age(turn));
    this.turns.splice(newer < 0 ? this.turns.length : newer, 0, turn);
  }

  /** The turns that the agent has, as far as is known here. */
  private get taken(): ReadonlySet<Turn> {
    return new Set(this.turns.filter(({ taskId }) => taskId));
  }

  /**
   * Another client may have deleted the conversation. What is under way here is told by its stream.
   * With the turns that were `there` when the agent was asked: one that it has taken since is not in its list.
   */
  private forgetDeleted(tasks: readonly { id: string }[], there: ReadonlySet<Turn>): void {
    if (tasks.length >= PAGE) return;
    const left = new Set(tasks.map((task) => task.id));
    this.turns = this.turns.filter((turn) => !there.has(turn) || left.has(turn.taskId) || this.streams.has(turn));
  }

  /** Whether a task may be what is being sent here: the agent has taken it, and its stream has not said so yet. */
  private maySend({ history }: { history?: A2AMessage[] | undefined }): boolean {
    const sending = this.turns.filter((turn) => !turn.taskId && this.streams.has(turn)).map((turn) => turn.history[0]?.messageId);
    return history?.length ? history.some(({ messageId }) => sending.includes(messageId)) : sending.length > 0;
  }

  /** A message that continues a conversation does not make one. */
  private get stage(): Stage {
    if (this.turns.some((turn) => turn.taskId || !turn.continues)) return "ready";
    return this.begun ? "missing" : "new";
  }

  /** Whether a message of before a reload waits to be sent. */
  get unsentMessage(): boolean {
    return outbox(this.id).some(({ refused }) => !refused);
  }

  /** Before a reload or a login the agent may not have taken a message: it is sent now, or shown as refused. */
  private sendWhatWasNotTaken(): void {
    const known = new Set(this.turns.flatMap((turn) => turn.history.map((message) => message.messageId)));
    for (const { message, continues, refused } of outbox(this.id)) {
      if (known.has(message.messageId)) {
        if (this.turns.some((turn) => turn.taskId && turn.history[0]?.messageId === message.messageId)) forgetSent(this.id, message.messageId);
        continue;
      }
      const turn = new Turn(message, continues);
      this.turns.push(turn);
      this.begun = true;
      if (refused) turn.fail(refused);
      else void this.run(turn, { message, again: true });
    }
  }

  /** The conversation was deleted: nothing of it is followed or kept any more. */
  leave(): void {
    forgetAllSent(this.id);
    forgetAnswer(this.id);
    for (const turn of this.turns) forgetDraft(turn.taskId);
    this.abandon();
  }

  /** Follow and send nothing of it any more. What is kept of it stays kept. */
  abandon(): void {
    this.left = true;
    for (const stream of this.streams.values()) stream.abort();
    this.turns = [];
  }

  /** A question may have been answered elsewhere, in another tab or by another client; a task that could not be followed goes on. */
  private refreshSettled(tasks: { id: string; status: { state: string; message?: { messageId: string } | undefined } }[]): void {
    for (const turn of this.turns) {
      const task = tasks.find((each) => each.id === turn.taskId);
      if (!task || this.streams.has(turn)) continue;
      const another = task.status.state !== turn.state || (task.status.message?.messageId ?? "") !== (turn.question?.id ?? "");
      if (turn.unfollowed || (turn.waits && another)) void this.run(turn, { taskId: turn.taskId });
    }
  }

  /** Answer a question as it was read. Where it is no longer open, nothing is sent, and the words come back. */
  async answer(parts: A2APart[], turn: Turn, question: Question): Promise<void> {
    if (this.left || turn.answering) return;
    if (turn.question?.id !== question.id) {
      turn.missed();
      this.giveBack(turn, wordsOf(parts));
      this.draw();
      return;
    }
    const answer = naming({ messageId: randomId(), contextId: this.id, role: "user", parts, taskId: turn.taskId }, question.id);
    this.cancels.get(turn)?.abort(); // who answers does not want it stopped any more, but may want the rest stopped
    this.cancels.delete(turn);
    turn.goesOn();
    turn.answered(answer);
    keepAnswer(this.id, answer);
    await this.run(turn, { message: answer, again: false });
  }

  /** After a reload: an answer that the agent has not taken is in the input again, for the question that is still open. */
  private returnAnswer(): void {
    const sent = sentAnswer(this.id);
    if (!sent || this.turns.some((turn) => turn.answering)) return;
    forgetAnswer(this.id);
    if (!this.turns.some(({ history }) => history.some(({ messageId }) => messageId === sent.messageId))) this.putBack(sent.words);
  }

  private giveBack(turn: Turn, words: string): void {
    turn.wordsBack = words !== "";
    forgetAnswer(this.id);
    this.putBack(words);
  }

  private putBack(words: string): void {
    if (!words) return;
    if (this.takeBack) this.takeBack(words);
    else keepUnsent(this.place, together(words, unsent(this.place)));
  }

  /** Say something new. */
  async send(parts: A2APart[]): Promise<void> {
    if (this.left) return;
    const message: A2AMessage = { messageId: randomId(), contextId: this.id, role: "user", parts };
    const continues = this.turns.some(({ taskId }) => taskId);
    const turn = new Turn(message, continues);
    keepSent(this.id, message, continues);
    this.turns.push(turn);
    this.begun = true;
    this.shown = { ...this.shown, stage: "ready" };
    await this.run(turn, { message, again: false });
  }

  /** Stop what is under way. A turn whose task is not known yet is stopped as soon as it is. */
  async stop(turn = this.turns.at(-1)): Promise<void> {
    if (!turn || (!turn.open && !turn.waits)) return;
    if (!turn.taskId) {
      this.stopWanted.add(turn);
      forgetSent(this.id, turn.history[0]?.messageId ?? "");
      turn.stopping();
      this.draw();
      return;
    }
    await this.cancel(turn);
  }

  /** Bring the stop to the agent. One that a lost line or a busy agent did not let through is brought again while the turn goes on. */
  private async cancel(turn: Turn): Promise<void> {
    if (this.cancels.has(turn)) return;
    const wanted = new AbortController();
    this.cancels.set(turn, wanted);
    for (let tries = 0; !wanted.signal.aborted && this.turns.includes(turn) && (turn.open || turn.waits); tries++) {
      try {
        const task = await this.client.cancelTask(turn.taskId, undefined, AbortSignal.any([wanted.signal, AbortSignal.timeout(LONGEST_CANCEL)]));
        if (!this.streams.has(turn)) turn.apply({ type: "task", task });
        this.onTaken();
        break;
      } catch (error) {
        if (wanted.signal.aborted) break;
        if (refusal(error) === "refused" || refusal(error) === "unauthenticated") {
          // It has ended meanwhile, or goes on: the stream tells what became of it.
          turn.goesOn();
          if (!this.streams.has(turn)) void this.run(turn, { taskId: turn.taskId });
          break;
        }
        turn.stopping();
        this.draw();
        await new Promise((done) => setTimeout(done, Math.min(LONGEST_PAUSE, 250 * 2 ** tries)));
      }
    }
    if (this.cancels.get(turn) === wanted) this.cancels.delete(turn);
    this.draw();
  }

  /** A message that was not taken is not wanted here any more. */
  drop(turn: Turn): void {
    forgetSent(this.id, turn.history[0]?.messageId ?? "");
    this.turns = this.turns.filter((each) => each !== turn);
    this.draw();
  }

  /** The parts of the request that a turn began with, to send them again. */
  requestOf(turn: Turn): A2APart[] {
    return turn.history.find((message) => message.role === "user")?.parts ?? [];
  }

  private async run(turn: Turn, beginning: Beginning): Promise<void> {
    this.streams.get(turn)?.abort();
    const stream = new AbortController();
    this.streams.set(turn, stream);
    this.draw();
    let taken = !("message" in beginning);
    try {
      const mayRepeat = (signal: AbortSignal): Promise<void> => this.mayRepeat(turn, signal);
      for await (const event of follow(this.client, beginning, stream.signal, (line) => this.tell(line), mayRepeat)) {
        if (stream.signal.aborted) break;
        if (!turn.history.length || event.type !== "task" || event.task.history?.length) turn.apply(event);
        else turn.apply({ type: "task", task: { ...event.task, history: turn.history } });
        if (!taken) {
          taken = true;
          this.credentials.saw(turn.taskId);
          forgetDraft(turn.taskId);
          if ("message" in beginning) this.forgetTaken(beginning.message);
          forgetRefused(this.id);
          this.onTaken();
        }
        if (turn.taskId && this.stopWanted.delete(turn)) void this.cancel(turn);
        this.drawSoon();
      }
    } catch (error) {
      this.refused(turn, "message" in beginning ? beginning.message : undefined, error);
    }
    if (this.streams.get(turn) === stream) this.streams.delete(turn);
    this.draw();
    this.onSettled();
    if (turn.refusal) void this.load();
  }

  private forgetTaken(message: A2AMessage): void {
    if (message.taskId) forgetAnswer(this.id);
    else forgetSent(this.id, message.messageId);
  }

  /** Throws where a message is not to be sent again: somebody else may be at the page meanwhile, or the conversation deleted. */
  private async mayRepeat(turn: Turn, signal: AbortSignal): Promise<void> {
    if (!this.credentials.known) await this.credentials.identify();
    if (!turn.continues || signal.aborted) return;
    const there = this.taken;
    const { tasks } = await listTasks(this.credentials, { contextId: this.id, pageSize: 1 }, signal);
    if (tasks.length) return;
    this.forgetDeleted(tasks, there);
    this.shown = { ...this.shown, stage: this.stage };
    throw new A2AError({ code: 404, status: "NOT_FOUND", message: DELETED });
  }

  /** What was sent or followed was refused. Nothing of it is lost: an agent that does not know who asks gets it after the login. */
  private refused(turn: Turn, message: A2AMessage | undefined, error: unknown): void {
    const why = sentence(error);
    const unknown = refusal(error) === "unauthenticated";
    if (unknown) this.shown = { ...this.shown, stage: "unauthenticated" };
    if (turn.askAgain(why)) {
      this.giveBack(turn, wordsOf(message?.parts ?? []));
      return;
    }
    if (unknown && turn.taskId) return;
    if (unknown && !this.stopWanted.has(turn)) {
      this.turns = this.turns.filter((each) => each !== turn);
      return;
    }
    turn.fail(why);
    refuseSent(this.id, message?.messageId ?? "", why);
  }

  private tell(line: Line): void {
    if (line === this.shown.line) return;
    const losses = this.shown.losses + (line === "lost" ? 1 : 0);
    this.shown = { ...this.shown, line, losses };
    this.drawSoon();
  }

  /** At most some twenty times a second, however fast events come: a page that draws each of thousands stands still. */
  private drawSoon(): void {
    const length = this.turns.at(-1)?.answer.length ?? 0;
    this.drawing ??= setTimeout(() => this.draw(), length > 30_000 ? 4 * PAUSE : PAUSE);
  }

  private draw(): void {
    clearTimeout(this.drawing);
    this.drawing = undefined;
    const before = new Map(this.shown.items.map((item) => [item.id, item]));
    const items = this.turns.flatMap(itemsOf).map((item) => {
      const known = before.get(item.id);
      return known && known.turn === item.turn && known.version === item.version && known.running === item.running ? known : item;
    });
    const turn = this.turns.at(-1);
    this.shown = { ...this.shown, items, turn, running: turn?.open ?? false };
    for (const listener of this.listeners) listener();
  }
}
