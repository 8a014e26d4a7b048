import type { A2AMessage, A2APart } from "@assistant-ui/react-a2a";
import { object, text } from "../wire/json";
import { keep, kept } from "../wire/tab";

/** The words of an answer that the agent has not taken, kept for a reload of this tab. Of a form's fields nothing is kept here: see drafts. */
export interface SentAnswer {
  messageId: string;
  words: string;
}

export function wordsOf(parts: readonly A2APart[]): string {
  return parts.map((part) => part.text ?? "").join("\n\n").trim();
}

/** Words that come back into the input, where something else may stand meanwhile. */
export function together(words: string, written: string): string {
  return [words, written].filter(Boolean).join("\n\n");
}

export function keepAnswer(conversation: string, { messageId, parts }: A2AMessage): void {
  const words = wordsOf(parts);
  keep(nameOf(conversation), words && JSON.stringify({ messageId, words }));
}

/** The agent has taken the answer, or its words are in the input again. */
export function forgetAnswer(conversation: string): void {
  keep(nameOf(conversation), "");
}

export function sentAnswer(conversation: string): SentAnswer | undefined {
  try {
    const found = object(JSON.parse(kept(nameOf(conversation)) || "{}"));
    const words = text(found?.["words"]);
    return words ? { messageId: text(found?.["messageId"]), words } : undefined;
  } catch {
    return undefined; // something else wrote there
  }
}

function nameOf(conversation: string): string {
  return `answer ${conversation}`;
}
