import type { A2AMessage } from "@assistant-ui/react-a2a";
import { list, object } from "../wire/json";
import { keep, kept } from "../wire/tab";

/**
 * The messages of a conversation that the agent has not taken yet, kept for a reload of this tab. Each is sent again with
 * the id that it had, so that the agent runs it once, whether it had arrived or not.
 */
export function outbox(conversation: string): A2AMessage[] {
  try {
    return list(JSON.parse(kept(nameOf(conversation)) || "[]")).filter(isMessage);
  } catch {
    return []; // something else wrote there
  }
}

/** Keep a message until the agent has taken it. */
export function keepSent(conversation: string, message: A2AMessage): void {
  store(conversation, [...outbox(conversation), message]);
}

/** The agent has taken a message, refused it, or nobody wants it sent any more. */
export function forgetSent(conversation: string, messageId: string): void {
  const before = outbox(conversation);
  const left = before.filter((message) => message.messageId !== messageId);
  if (left.length < before.length) store(conversation, left);
}

/** Nothing of the conversation is to be sent any more. */
export function forgetAllSent(conversation: string): void {
  store(conversation, []);
}

function store(conversation: string, messages: A2AMessage[]): void {
  keep(nameOf(conversation), messages.length ? JSON.stringify(messages) : "");
}

function isMessage(value: unknown): value is A2AMessage {
  const found = object(value);
  return typeof found?.["messageId"] === "string" && Array.isArray(found["parts"]);
}

function nameOf(conversation: string): string {
  return `sent ${conversation}`;
}
