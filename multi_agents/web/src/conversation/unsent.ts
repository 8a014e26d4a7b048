import { keep, kept } from "../wire/tab";

/** What was typed in a conversation and not sent yet. The new one, which has no address, has the empty id. */
export function unsent(id: string): string {
  return kept(nameOf(id));
}

export function keepUnsent(id: string, words: string): void {
  keep(nameOf(id), words);
}

function nameOf(id: string): string {
  return `unsent ${id}`;
}
