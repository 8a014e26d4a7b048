import { agentUrl, NO_REDIRECT, refusal, refusedWith } from "./agent";
import { object } from "./json";
import { Newest } from "./newest";
import { forgetUnclaimed, keepFor } from "./tab";

/** Who this page says it is. Kept in memory alone: a reload forgets it, and nothing else on this machine can read it. */
export class Credentials {
  private authorization = "";
  /** Whom the agent takes the page for: a digest, empty where it does not know its callers, undefined before it was asked. */
  private person: string | undefined;
  private readonly questions = new Newest();
  private readonly entries = new Newest();
  /** The first task that the agent showed before it said whose the page is: who may not read it is not the one it was shown to. */
  private seen = "";
  /** Told when a token took the place of one that ends. */
  onRenewed: () => void = () => undefined;
  /** Told when somebody else than before is at the page, to whom nothing that it knows belongs. */
  onAnother: () => void = () => undefined;

  /** Whether a key or a token is used. */
  get known(): boolean {
    return this.authorization !== "";
  }

  /** Whether the agent was asked whom it takes the page for. */
  get identified(): boolean {
    return this.person !== undefined;
  }

  /** The agent has shown this task to whoever is at the page. */
  saw(taskId: string): void {
    if (!this.identified) this.seen ||= taskId;
  }

  /** Whether this token is the one in use: another one may have been entered in its place. */
  uses(token: string): boolean {
    return this.authorization === bearer(token);
  }

  /** The headers of each request. */
  headers(): Record<string, string> {
    return headersOf(this.authorization);
  }

  /** Use a key or an access token of the same person from now on; an empty one is none. */
  useToken(token: string): void {
    this.authorization = token && bearer(token);
  }

  /** Use a key or an access token, whoever it belongs to. Throws what the agent answers where it does not take it. */
  async take(token: string): Promise<void> {
    const authorization = bearer(token);
    const counts = this.entries.ask();
    const person = await askWho(authorization);
    const another = await this.isAnother(authorization);
    if (!counts()) return; // another one was entered and taken since
    this.authorization = authorization;
    this.become(person, another);
  }

  /**
   * Ask whom the agent takes the page for. A login in another tab may change that where a cookie decides it.
   * Throws what the agent answers where it does not say.
   */
  async identify(): Promise<void> {
    const { authorization } = this;
    const counts = this.questions.ask();
    const person = await askWho(authorization);
    const another = await this.isAnother(authorization);
    if (authorization !== this.authorization || !counts()) return;
    this.become(person, another);
  }

  /** Ask until the agent says it, and tell of each question why it was not answered. Gives whether the agent wants a login first. */
  async identifyAtLast(tell: (error: unknown) => void = () => undefined): Promise<boolean> {
    for (let tries = 0; !this.identified; tries++) {
      try {
        await this.identify();
      } catch (error) {
        if (refusal(error) === "unauthenticated") return true;
        tell(error);
        await new Promise((done) => setTimeout(done, Math.min(LONGEST, 250 * 2 ** tries)));
      }
    }
    return false;
  }

  /** Whether the page was used by somebody else before the agent said for the first time whose it is. */
  private async isAnother(authorization: string): Promise<boolean> {
    return !this.identified && this.seen !== "" && !(await mayRead(authorization, this.seen));
  }

  private become(person: string, another: boolean): void {
    const before = this.person;
    if (person === before) return;
    this.person = person;
    if (another) forgetUnclaimed();
    keepFor(person);
    if (another || before !== undefined) this.onAnother();
  }
}

/** Milliseconds: the longest wait for an answer, and between two questions. */
const LONGEST = 10_000;

async function askWho(authorization: string): Promise<string> {
  const answer = await ask("/page/caller", authorization);
  const told = object(await answer.json().catch(() => undefined));
  const caller = told?.["caller"];
  if (!answer.ok || typeof caller !== "string") throw refusedWith(answer, told);
  return caller;
}

async function mayRead(authorization: string, taskId: string): Promise<boolean> {
  const answer = await ask(`/rest/tasks/${encodeURIComponent(taskId)}?historyLength=0`, authorization);
  if (answer.ok) return true;
  if (answer.status === 403 || answer.status === 404) return false;
  throw refusedWith(answer, undefined);
}

function ask(path: string, authorization: string): Promise<Response> {
  return fetch(agentUrl() + path, {
    ...NO_REDIRECT,
    cache: "no-store",
    signal: AbortSignal.timeout(LONGEST),
    headers: { Accept: "application/json", "A2A-Version": "1.0", ...headersOf(authorization) },
  });
}

function bearer(token: string): string {
  return `Bearer ${token}`;
}

function headersOf(authorization: string): Record<string, string> {
  return authorization ? { Authorization: authorization } : {};
}
