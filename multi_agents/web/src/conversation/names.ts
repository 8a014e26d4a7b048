const KEY = "conversation names";
const MOST = 500;

/** Names that the reader gave to conversations of an agent that has no place for them: they are this browser's own. */
export class Names {
  private readonly names: Map<string, string>;

  constructor(private readonly storage: Storage) {
    this.names = new Map(read(storage));
  }

  get(id: string): string {
    return this.names.get(id) ?? "";
  }

  set(id: string, name: string): void {
    this.names.delete(id);
    if (name.trim()) this.names.set(id, name.trim().slice(0, 200));
    try {
      this.storage.setItem(KEY, JSON.stringify([...this.names].slice(-MOST)));
    } catch {
      // A full or forbidden storage: the name holds until the page is closed.
    }
  }
}

function read(storage: Storage): [string, string][] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(KEY) ?? "[]");
    return Array.isArray(stored) ? stored.filter((each) => Array.isArray(each)).map(([id, name]) => [String(id), String(name)]) : [];
  } catch {
    return [];
  }
}
