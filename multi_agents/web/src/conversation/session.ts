import type { A2AAgentCard, A2AClient, A2APart } from "@assistant-ui/react-a2a";
import { connect, refusal, sentence } from "../wire/agent";
import { keepsConversations, StoredConversations, type Kept } from "../wire/conversations";
import type { Question } from "../turn/question";
import type { Turn } from "../turn/turn";
import type { Credentials } from "../wire/credentials";
import { Memories } from "../wire/memories";
import { randomId } from "../wire/proof";
import { forgetAll } from "../wire/tab";
import { OtherTabs } from "../wire/tabs";
import { conversationInAddress, onAddress, showInAddress } from "./address";
import { Conversation } from "./conversation";
import { Library } from "./library";
import { Names } from "./names";
import { forgetAllSent } from "./outbox";
import { keepUnsent, unsent } from "./unsent";

const KEY = /^[\x21-\x7e]+$/;
const NOT_TAKEN = "The agent does not accept this key: it is wrong, has expired, or was revoked. Enter another one.";
const LOOK_AGAIN = 20_000;

/** Everything that the page knows: who it is, the conversations, and which of them is open. */
export class Session {
  readonly client: A2AClient;
  readonly library: Library;
  readonly memories: Memories;
  private readonly tabs = new OtherTabs();
  private open: Conversation;
  private introduction = false;
  private persons = 0;
  private readonly known = new Map<string, Conversation>();
  private readonly listeners = new Set<() => void>();

  /** With why a login failed that has just ended, empty where none did, and whether the agent wants a login before it answers. */
  constructor(
    readonly credentials: Credentials,
    readonly loginProblem: string,
    locked: boolean,
  ) {
    this.client = connect(credentials);
    this.memories = new Memories(this.client);
    this.library = new Library(credentials, new Names(), locked ? "unauthenticated" : "loading");
    const id = conversationInAddress();
    this.open = id ? this.conversation(id, true) : this.fresh();
    this.tabs.onChange((changed) => this.changedElsewhere(changed));
    onAddress(() => this.switch(conversationInAddress(), false));
    addEventListener("focus", () => {
      void this.credentials.identify().catch(() => undefined);
      this.look();
      void this.library.refreshTitles();
    });
    setInterval(() => {
      if (!document.hidden) this.look();
    }, LOOK_AGAIN);
    credentials.onRenewed = () => this.look();
    credentials.onAnother = () => this.another();
    void this.library.refresh();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly current = (): Conversation => this.open;

  /** Another number with each person who comes to the page. */
  readonly person = (): number => this.persons;

  /** Open a conversation; an empty id begins a new one. */
  switch(id: string, remember = true): void {
    this.open = id ? this.conversation(id, true) : this.fresh();
    if (remember) showInAddress(id);
    for (const listener of this.listeners) listener();
  }

  /** Begin a new conversation in the place of one that is gone, with what was typed there and not sent. */
  beginAnew(): void {
    const gone = this.open.id;
    keepUnsent("", unsent("") || unsent(gone));
    keepUnsent(gone, "");
    this.switch("");
  }

  /** Send the request of a turn once more: in a new conversation where the open one is gone. */
  again(turn: Turn): void {
    const before = this.open;
    const parts = before.requestOf(turn);
    if (before.snapshot().stage === "missing") {
      before.drop(turn);
      this.beginAnew();
    }
    this.send(this.open, parts);
  }

  /**
   * Say something in the conversation in which it was written, which need not be the open one any more: files are read first.
   * Once it has begun the address names it, and what is typed is kept for it.
   */
  send(conversation: Conversation, parts: A2APart[]): void {
    const before = conversation.place;
    void conversation.send(parts);
    if (conversation === this.open) {
      if (before !== conversation.place) {
        keepUnsent(conversation.place, unsent(before));
        keepUnsent(before, "");
      }
      showInAddress(conversation.id);
    }
    this.library.redraw();
  }

  /** Answer a question of a turn, as it was read. */
  answer(conversation: Conversation, parts: A2APart[], turn: Turn, question: Question): void {
    void conversation.answer(parts, turn, question);
  }

  /** The agent's card is read: it tells whether conversations can be renamed and deleted at the agent. */
  introduced(card: A2AAgentCard): void {
    if (this.introduction || !keepsConversations(card)) return;
    this.introduction = true;
    void this.library.use(new StoredConversations(this.client));
  }

  /** Delete a conversation, and tell who keeps something of it. Throws what the agent answers where it does not. */
  async delete(id: string, hereOnly: boolean): Promise<Kept[]> {
    const kept = await this.library.delete(id, hereOnly);
    this.tabs.tell(id);
    this.known.get(id)?.leave();
    this.known.delete(id);
    keepUnsent(id, "");
    forgetAllSent(id);
    void this.library.refresh();
    if (this.open.id === id) this.switch("");
    return kept;
  }

  /** Whether the agent does not answer before it knows who asks. */
  get locked(): boolean {
    return [this.open.snapshot().stage, this.library.snapshot().stage].includes("unauthenticated");
  }

  /** Show who this is, and try again. Gives a sentence where the agent does not take it. */
  async authenticate(token: string): Promise<string> {
    if (!KEY.test(token)) return NOT_TAKEN; // no header carries it
    try {
      await this.credentials.take(token);
    } catch (error) {
      return refusal(error) === "unauthenticated" ? NOT_TAKEN : sentence(error);
    }
    await Promise.all([this.library.refresh(), this.open.load()]);
    if (!this.locked) {
      void this.library.refreshTitles();
      return "";
    }
    this.credentials.useToken("");
    return NOT_TAKEN;
  }

  /** Forget who this is, and everything that this tab knows of them. */
  forget(): void {
    this.credentials.useToken("");
    forgetAll();
    history.replaceState(null, "", location.pathname);
    location.reload();
  }

  /** What one person wrote and read in this tab is neither shown to another one nor sent by them. It waits for its writer. */
  private another(): void {
    for (const each of this.known.values()) each.abandon();
    this.known.clear();
    this.persons++;
    this.library.forget();
    this.switch(conversationInAddress(), false);
    void this.library.refresh();
  }

  private look(): void {
    void this.library.refresh();
    const { stage, line } = this.open.snapshot();
    if (stage !== "new" && (line === "connected" || line === "portal")) void this.open.load();
  }

  /** The agent has taken a message: the list of this tab and those of the others show it. */
  private taken(id: string): void {
    void this.library.refresh();
    this.tabs.tell(id);
  }

  private changedElsewhere(id: string): void {
    void this.library.refresh();
    void this.known.get(id)?.load();
  }

  private fresh(): Conversation {
    return this.conversation(randomId(), false);
  }

  private conversation(id: string, load: boolean): Conversation {
    let found = this.known.get(id);
    if (!found) {
      found = new Conversation(id, this.client, this.credentials, load ? "loading" : "new", () => void this.library.refresh(), () => this.taken(id));
      this.known.set(id, found);
    }
    if (load) void found.load();
    return found;
  }
}
