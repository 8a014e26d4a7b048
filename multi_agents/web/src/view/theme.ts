export type Theme = "system" | "light" | "dark";

const KEY = "theme";
const ORDER: readonly Theme[] = ["system", "light", "dark"];

export function theme(): Theme {
  const stored = localStorage.getItem(KEY);
  return ORDER.find((each) => each === stored) ?? "system";
}

export function applyTheme(chosen: Theme = theme()): void {
  localStorage.setItem(KEY, chosen);
  if (chosen === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = chosen;
}

export function nextTheme(): Theme {
  const chosen = ORDER[(ORDER.indexOf(theme()) + 1) % ORDER.length] ?? "system";
  applyTheme(chosen);
  return chosen;
}
