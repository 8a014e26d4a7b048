import { browser } from "../wire/stored";

export type Theme = "system" | "light" | "dark";

const KEY = "theme";
const KNOWN: readonly Theme[] = ["system", "light", "dark"];

export function theme(): Theme {
  const stored = browser.kept(KEY);
  return KNOWN.find((each) => each === stored) ?? "system";
}

export function applyTheme(chosen: Theme = theme()): void {
  browser.keep(KEY, chosen);
  if (chosen === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = chosen;
}

/** The first step changes what is seen: from the colours of the system to the other ones. */
export function nextTheme(): Theme {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const order: readonly Theme[] = dark ? ["system", "light", "dark"] : ["system", "dark", "light"];
  const chosen = order[(order.indexOf(theme()) + 1) % order.length] ?? "system";
  applyTheme(chosen);
  return chosen;
}
