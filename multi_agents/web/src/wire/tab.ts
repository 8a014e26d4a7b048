import { Stored } from "./stored";

const tab = new Stored(() => sessionStorage);
/** What is kept before it is known who writes it; a reload forgets it. */
const unclaimed = new Map<string, string>();
let writer: string | undefined;
/** Whether everything was forgotten for good: what is left of this page until the reload keeps nothing more. */
let ended = false;

/** From now on what is kept is this person's: nobody else who uses the tab sees or sends it. What this page kept before is theirs too. */
export function keepFor(person: string): void {
  writer = person;
  for (const [name, value] of unclaimed) keep(name, value);
  unclaimed.clear();
}

/** Forget what is nobody's yet: whose it was is not known, only that it is not theirs who are at the page now. */
export function forgetUnclaimed(): void {
  unclaimed.clear();
}

/** Keep a text for this tab alone: a reload leaves it, no other tab has it. An empty one is none. */
export function keep(name: string, value: string): void {
  if (ended) return;
  if (writer === undefined) unclaimed.set(name, value);
  else tab.keep(prefix(writer) + name, value);
}

/** What was kept under a name; empty where nothing was. */
export function kept(name: string): string {
  return writer === undefined ? (unclaimed.get(name) ?? "") : tab.kept(prefix(writer) + name);
}

/** The names that begin with this under which something is kept. */
export function keptNames(beginning: string): string[] {
  if (writer === undefined) return [...unclaimed.keys()].filter((name) => name.startsWith(beginning) && unclaimed.get(name));
  const whole = prefix(writer) + beginning;
  return tab.names().filter((name) => name.startsWith(whole)).map((name) => name.slice(prefix(writer ?? "").length));
}

/** Whether this tab keeps anything of anybody. */
export function keepsAnything(): boolean {
  return unclaimed.size > 0 || tab.names().length > 0;
}

/** What is kept and nobody's yet, to put it back where the page is left for a login. */
export function nobodys(): [name: string, value: string][] {
  return [...unclaimed];
}

/** Put back what was nobody's when the page was left for a login: it becomes theirs who logged in. */
export function putBack(texts: readonly [name: string, value: string][]): void {
  for (const [name, value] of texts) keep(name, value);
}

/** Forget everything that this tab keeps, of everybody, before a reload. */
export function forgetAll(): void {
  ended = true;
  unclaimed.clear();
  tab.clear();
}

function prefix(person: string): string {
  return person && `${person} `;
}
