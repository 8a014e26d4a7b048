const unstored = new Map<string, string>();

/** Keep a text for this tab alone: a reload leaves it, no other tab has it. An empty one is none. */
export function keep(name: string, value: string): void {
  unstored.set(name, value);
  try {
    if (value) sessionStorage.setItem(name, value);
    else sessionStorage.removeItem(name);
  } catch {
    // Storage may be forbidden or full: then this page knows it until it is left.
  }
}

/** What was kept under a name; empty where nothing was. */
export function kept(name: string): string {
  try {
    return unstored.get(name) ?? sessionStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}

/** Forget everything that this tab keeps. */
export function forgetAll(): void {
  unstored.clear();
  try {
    sessionStorage.clear();
  } catch {
    // Forbidden storage holds nothing.
  }
}
