/** Texts by name in a storage of the browser. Where that is forbidden or full, they last until the page is left. */
export class Stored {
  private readonly unstored = new Map<string, string>();

  /** With where the storage is: reading that is an error in a browser that forbids it. */
  constructor(private readonly storage: () => Storage) {}

  /** Keep a text. An empty one is none. */
  keep(name: string, value: string): void {
    this.unstored.delete(name);
    try {
      this.storage().removeItem(name);
      if (value) this.storage().setItem(name, value);
    } catch {
      this.unstored.set(name, value);
    }
  }

  /** What was kept under a name; empty where nothing was. */
  kept(name: string): string {
    try {
      return this.unstored.get(name) ?? this.storage().getItem(name) ?? "";
    } catch {
      return "";
    }
  }

  /** The names under which something is kept, in no order. */
  names(): string[] {
    try {
      return [...new Set([...this.unstored.keys(), ...Object.keys(this.storage())])].filter((name) => this.kept(name));
    } catch {
      return [...this.unstored.keys()];
    }
  }

  clear(): void {
    this.unstored.clear();
    try {
      this.storage().clear();
    } catch {
      // Forbidden storage holds nothing.
    }
  }
}

/** What all tabs of this browser share. */
export const browser = new Stored(() => localStorage);
