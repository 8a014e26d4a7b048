import type { A2AMessage } from "@assistant-ui/react-a2a";
import { object } from "../wire/json";
import { readQuestion } from "./question";

export const HIDDEN = "••••";

/** The names of fields for passwords in the form that an answer belongs to: the last one before it. */
export function withheld(history: readonly A2AMessage[], index: number): ReadonlySet<string> {
  for (let before = index - 1; before >= 0; before--) {
    const form = readQuestion(history[before], false).form;
    if (form) return new Set(form.fields.filter((field) => field.masked).map((field) => field.name));
  }
  return new Set();
}

/** What was answered, without what was written in fields for passwords. */
export function withoutWithheld(message: A2AMessage, names: ReadonlySet<string>): A2AMessage["parts"] {
  if (!names.size) return message.parts;
  return message.parts.map((part) => {
    const values = object(part.data);
    return values ? { ...part, data: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, names.has(name) ? HIDDEN : value])) } : part;
  });
}

/** A history as it may be shown. */
export function shownHistory(history: readonly A2AMessage[]): A2AMessage[] {
  return history.map((message, index) => (message.role === "user" ? { ...message, parts: withoutWithheld(message, withheld(history, index)) } : message));
}
