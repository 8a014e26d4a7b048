import { browser } from "../wire/stored";

const KEY = "conversation names";
const MOST = 500;

/** Names that the reader gave to conversations of an agent that has no place for them: they are this browser's own. */
export class Names {
  private readonly names = new Map(read());

  get(id: string): string {
    return this.names.get(id) ?? "";
  }

  set(id: string, name: string): void {
    this.names.delete(id);
    if (name.trim()) this.names.set(id, name.trim().slice(0, 200));
    browser.keep(KEY, JSON.stringify([...this.names].slice(-MOST)));
  }
}

function read(): [string, string][] {
  try {
    const stored: unknown = JSON.parse(browser.kept(KEY) || "[]");
    return Array.isArray(stored) ? stored.filter((each) => Array.isArray(each)).map(([id, name]) => [String(id), String(name)]) : [];
  } catch {
    return []; // something else wrote there
  }
}
