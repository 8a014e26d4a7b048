export function seconds(value: number): string {
  if (value < 0.05) return "under 0.1 s";
  if (value < 10) return `${value.toFixed(1)} s`;
  if (value < 100) return `${Math.round(value)} s`;
  return `${Math.floor(value / 60)} min ${String(Math.round(value % 60)).padStart(2, "0")} s`;
}

export function count(value: number): string {
  return Math.round(value).toLocaleString("en");
}

export function bytes(value: number): string {
  if (value < 1000) return `${value} B`;
  return value < 1_000_000 ? `${(value / 1000).toFixed(0)} kB` : `${(value / 1_000_000).toFixed(1)} MB`;
}

export function money(value: number): string {
  return value < 0.01 ? `$${value.toFixed(4)}` : `$${value.toFixed(2)}`;
}

export function when(date: Date, now = new Date()): string {
  const minutes = (now.getTime() - date.getTime()) / 60_000;
  if (minutes < 1) return "now";
  if (minutes < 60) return `${Math.floor(minutes)} min ago`;
  if (date.toDateString() === now.toDateString()) return date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const year = date.getFullYear() === now.getFullYear() ? {} : { year: "numeric" as const };
  return date.toLocaleDateString([], { day: "numeric", month: "short", ...year });
}
