import type { A2AArtifact, A2AMessage, A2APart, A2AStreamEvent, A2ATask, A2ATaskState, A2ATaskStatus } from "@assistant-ui/react-a2a";
import { ACTIVITY, CONTEXT, ERROR, NEXT, PLAN, readContext, readError, readNext, readPlan, readUsage, TRACE, TREE, USAGE } from "../wire/extensions";
import type { ContextFill, PlanStep, TaskError, Tokens } from "../wire/extensions";
import { settled } from "../wire/follow";
import { number, object, text, type Json } from "../wire/json";
import { CallTree } from "./calls";
import { artifactFiles, partsText, type FileShown } from "./parts";
import { readQuestion, type Question } from "./question";

const RESPONSE = "response";
const NOTICE = "notice";
const PLAN_NAME = "plan";
const MOST_EVENTS = 20_000;
const ANOTHER = "It was for another question, which is no longer open.";

/** One task as its events tell it: from the request to the answer. */
export class Turn {
  taskId = "";
  state: A2ATaskState = "submitted";
  doing = "";
  /** Whether the user wants it stopped, and the agent does not know it yet. */
  stops = false;
  history: A2AMessage[];
  plan: PlanStep[] = [];
  usage: [agent: string, tokens: Tokens][] = [];
  context: ContextFill | undefined;
  error: TaskError | undefined;
  /** By which logs and traces of this turn are found. */
  traceId = "";
  next: string[] = [];
  question: Question | undefined;
  /** Why the last answer to the question was not taken; empty where none was refused. */
  refusal = "";
  /** Whether the last answer came too late: its question was no longer open. */
  late = false;
  /** Whether the words of that answer are in the input again; a choice has none. */
  wordsBack = false;
  /** Whether it only seems to have failed: it could not be sent, or not be followed further. */
  unfollowed = false;
  begun: number;
  ended: number | undefined;
  seconds: number | undefined;
  version = 0;
  /** Every event as it came, for whoever wants to look behind the page. */
  readonly events: A2AStreamEvent[] = [];
  readonly calls = new CallTree();
  private readonly artifacts = new Map<string, A2AArtifact>();
  private readonly texts = new Map<string, string[]>();
  private said: A2AMessage | undefined;
  /** What stood here before an answer was sent, until the agent took it. */
  private before: { history: A2AMessage[]; state: A2ATaskState; question: Question | undefined; asked: A2AMessage | undefined } | undefined;

  constructor(
    request?: A2AMessage,
    /** Whether it continues a conversation that the agent had when it was sent. */
    readonly continues = false,
  ) {
    this.history = request ? [request] : [];
    this.begun = Date.now();
  }

  static of(task: A2ATask): Turn {
    const turn = new Turn();
    turn.apply({ type: "task", task });
    turn.events.length = 0;
    if (task.status.timestamp) turn.begun = new Date(task.status.timestamp).getTime() - 1000 * (turn.seconds ?? 0);
    return turn;
  }

  get open(): boolean {
    return !settled(this.state);
  }

  get waits(): boolean {
    return this.state === "input_required" || this.state === "auth_required";
  }

  /** The answer's text so far. */
  get answer(): string {
    const found = [...this.artifacts.values()].filter((each) => each.name !== NOTICE && each.name !== PLAN_NAME);
    const own = found.filter((each) => each.name === RESPONSE || each.artifactId.startsWith(RESPONSE));
    const texts = (own.length ? own : found).map((each) => this.textOf(each)).filter(Boolean);
    if (texts.length) return texts.join("\n\n");
    return this.said ? partsText(this.said.parts) : "";
  }

  /** What the agent tells of itself beside the answer. */
  get notice(): string {
    return [...this.artifacts.values()].filter((each) => each.name === NOTICE).map((each) => this.textOf(each)).join("\n");
  }

  get files(): FileShown[] {
    return artifactFiles(this.artifacts.values());
  }

  /** Why there is no answer; empty where nothing failed. */
  get failure(): string {
    if (this.state !== "failed" && this.state !== "rejected") return "";
    return this.error?.message || this.doing || `The agent ended the task as ${this.state} and gave no reason.`;
  }

  apply(event: A2AStreamEvent): void {
    this.version++;
    const taken = this.before !== undefined;
    this.before = undefined;
    if (this.unfollowed) {
      this.unfollowed = false;
      this.error = this.ended = undefined;
    }
    if (this.events.length < MOST_EVENTS) this.events.push(event);
    if (event.type === "task") this.take(event.task, taken);
    else if (event.type === "statusUpdate") {
      this.taskId = event.event.taskId || this.taskId;
      this.status(event.event.status, event.event.metadata);
    } else if (event.type === "artifactUpdate") this.artifact(event.event.artifact, event.event.append === true);
    else {
      this.said = event.message;
      this.state = "completed";
    }
  }

  /** What the user said to a question of this task. */
  answered(message: A2AMessage): void {
    const { history, state, question, asked } = this;
    this.before = { history, state, question, asked };
    this.refusal = "";
    this.late = false;
    this.history = [...this.history, ...(asked ? [asked] : []), message];
    this.question = undefined;
    this.state = "working";
    this.doing = "";
    this.version++;
  }

  /** Whether an answer was sent that the agent has not taken yet. */
  get answering(): boolean {
    return this.before !== undefined;
  }

  /** An answer was not sent, since its question was no longer open. */
  missed(): void {
    if (this.waits) this.refusal = ANOTHER;
    else this.late = true;
    this.version++;
  }

  /** The agent did not take the answer: the question stands as before. False where none was sent. */
  askAgain(refusal: string): boolean {
    if (!this.before) return false;
    Object.assign(this, this.before);
    this.before = undefined;
    this.refusal = refusal;
    this.version++;
    return true;
  }

  /** The user wants it stopped, and the agent does not know it yet. */
  stopping(): void {
    this.stops = true;
    this.version++;
  }

  /** The stop was refused, or is not wanted any more. */
  goesOn(): void {
    this.stops = false;
    this.version++;
  }

  /** The turn could not be sent, or not be followed. */
  fail(message: string): void {
    this.state = "failed";
    this.unfollowed = true;
    this.error = { code: "", message, retryable: true, traceId: "" };
    this.ended = Date.now();
    this.version++;
  }

  /** The task as it is; with `goesOn` the one that begins the stream of an answer, which does not tell earlier artifacts again. */
  private take(task: A2ATask, goesOn: boolean): void {
    this.taskId = task.id;
    if (task.history?.length) this.history = task.history;
    if (!goesOn) {
      this.artifacts.clear();
      this.texts.clear();
    }
    for (const artifact of task.artifacts ?? []) this.artifact(artifact, false);
    this.status(task.status, task.metadata);
  }

  private status(status: A2ATaskStatus, metadata: Json | undefined): void {
    this.state = status.state;
    this.asked = this.waits ? status.message : undefined;
    if (!this.waits) {
      this.late ||= this.refusal !== "";
      this.refusal = "";
    }
    this.question = this.waits ? readQuestion(status.message, status.state === "auth_required") : undefined;
    this.doing = status.message && !this.waits ? partsText(status.message.parts) : this.doing;
    if (!this.open && !this.ended && !this.waits) this.ended = Date.now();
    if (metadata) this.metadata(metadata);
  }

  /** The question as it came, for the history. */
  asked: A2AMessage | undefined;

  private metadata(told: Json): void {
    if (ACTIVITY in told) this.calls.add(told[ACTIVITY]);
    if (TREE in told) {
      this.calls.addTasks(told[TREE]);
      this.seconds = number(object(told[TREE])?.["seconds"]) ?? this.seconds;
    }
    if (PLAN in told) this.plan = readPlan(told[PLAN]);
    if (USAGE in told) this.usage = readUsage(told[USAGE]);
    if (CONTEXT in told) this.context = readContext(told[CONTEXT]) ?? this.context;
    if (TRACE in told) this.traceId = text(object(told[TRACE])?.["trace_id"]);
    if (ERROR in told) {
      this.error = readError(told[ERROR]);
      this.traceId = this.error?.traceId || this.traceId;
    }
    if (NEXT in told) this.next = readNext(told[NEXT]);
  }

  private artifact(artifact: A2AArtifact, append: boolean): void {
    const known = append ? this.artifacts.get(artifact.artifactId) : undefined;
    const texts = known ? (this.texts.get(artifact.artifactId) ?? []) : [];
    texts.push(...artifact.parts.flatMap((part: A2APart) => (part.text === undefined ? [] : [part.text])));
    this.texts.set(artifact.artifactId, texts);
    const others = artifact.parts.filter((part) => part.text === undefined);
    this.artifacts.set(artifact.artifactId, { ...artifact, parts: [...(known?.parts ?? []), ...others] });
  }

  /** Chunks are joined when they are shown: each costs its own length, however long the answer is. */
  private textOf(artifact: A2AArtifact): string {
    const chunks = this.texts.get(artifact.artifactId) ?? [];
    if (chunks.length > 1) chunks.splice(0, chunks.length, chunks.join(""));
    const data = artifact.parts.filter((part) => part.data !== undefined);
    return [chunks[0] ?? "", partsText(data)].filter(Boolean).join("\n\n");
  }
}
