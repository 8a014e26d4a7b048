import { Stored } from "./stored";

const tab = new Stored(() => sessionStorage);

/** Keep a text for this tab alone: a reload leaves it, no other tab has it. An empty one is none. */
export function keep(name: string, value: string): void {
  tab.keep(name, value);
}

/** What was kept under a name; empty where nothing was. */
export function kept(name: string): string {
  return tab.kept(name);
}

/** Forget everything that this tab keeps. */
export function forgetAll(): void {
  tab.clear();
}
