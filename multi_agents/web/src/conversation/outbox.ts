import type { A2AMessage } from "@assistant-ui/react-a2a";
import { list, number, object, text } from "../wire/json";
import { keep, kept, keptNames } from "../wire/tab";

/** A message that the agent has not taken. */
export interface Unsent {
  message: A2AMessage;
  /** Whether the agent had the conversation when it was written. */
  continues: boolean;
  /** When it was written, in milliseconds since 1970. */
  written: number;
  /** Why it was refused; empty where it still waits to be sent. */
  refused: string;
}

/**
 * The messages of a conversation that the agent has not taken, kept for a reload of this tab. One that waits is sent again
 * with the id that it had, so that the agent runs it once, whether it had arrived or not. One that was refused is shown.
 */
export function outbox(conversation: string): Unsent[] {
  try {
    return list(JSON.parse(kept(nameOf(conversation)) || "[]")).flatMap(unsentOf);
  } catch {
    return []; // something else wrote there
  }
}

/** The conversations that have messages which the agent has not taken. */
export function outboxes(): string[] {
  return keptNames(nameOf("")).map((name) => name.slice(nameOf("").length));
}

/** Keep a message until the agent has taken it. */
export function keepSent(conversation: string, message: A2AMessage, continues: boolean): void {
  store(conversation, [...outbox(conversation), { message, continues, written: Date.now(), refused: "" }]);
}

/** A message was refused: it is not sent by itself any more. */
export function refuseSent(conversation: string, messageId: string, why: string): void {
  store(conversation, outbox(conversation).map((each) => (each.message.messageId === messageId ? { ...each, refused: why } : each)));
}

/** The agent has taken a message, or nobody wants it sent any more. */
export function forgetSent(conversation: string, messageId: string): void {
  keepOnly(conversation, ({ message }) => message.messageId !== messageId);
}

/** The conversation went on: what was refused before is wanted no more. */
export function forgetRefused(conversation: string): void {
  keepOnly(conversation, ({ refused }) => !refused);
}

/** Nothing of the conversation is to be sent any more. */
export function forgetAllSent(conversation: string): void {
  store(conversation, []);
}

function keepOnly(conversation: string, wanted: (unsent: Unsent) => boolean): void {
  const before = outbox(conversation);
  const left = before.filter(wanted);
  if (left.length < before.length) store(conversation, left);
}

function store(conversation: string, unsent: Unsent[]): void {
  keep(nameOf(conversation), unsent.length ? JSON.stringify(unsent) : "");
}

function unsentOf(value: unknown): Unsent[] {
  const found = object(value);
  const message = object(found?.["message"]);
  const whole = typeof message?.["messageId"] === "string" && Array.isArray(message["parts"]);
  return whole ? [{ message: message as unknown as A2AMessage, continues: found?.["continues"] === true, written: number(found?.["written"]) ?? 0, refused: text(found?.["refused"]) }] : [];
}

function nameOf(conversation: string): string {
  return `sent ${conversation}`;
}
