import { A2AError, type A2AAgentCard, type A2AClient } from "@assistant-ui/react-a2a";
import { MEMORY } from "./extensions";
import { list, object, text, type Json } from "./json";
import { randomId } from "./proof";

/** One thing that an agent remembers of the reader. */
export interface Memory {
  id: string;
  /** What it is: a fact, a rule, or what a conversation was about. */
  kind: string;
  text: string;
  day: string;
}

/** Whether an agent may remember its callers: docs/a2a.md, the extension for memories. It knows only those that have a name. */
export function remembers(card: A2AAgentCard | undefined): boolean {
  const declared = list(object(card?.capabilities)?.["extensions"]).some((each) => object(each)?.["uri"] === MEMORY);
  return declared && Boolean(card?.securityRequirements?.length);
}

/** What an agent remembers of the reader beyond a conversation. */
export class Memories {
  constructor(private readonly client: A2AClient) {}

  /** Oldest first. */
  async all(): Promise<Memory[]> {
    return this.ask({ action: "list" });
  }

  async forget(id: string): Promise<void> {
    await this.ask({ action: "forget", id });
  }

  async forgetAll(): Promise<void> {
    await this.ask({ action: "forget-all" });
  }

  private async ask(asked: Json): Promise<Memory[]> {
    const answer = await this.client.sendMessage({ messageId: randomId(), role: "user", parts: [{ data: { [MEMORY]: asked } }] });
    const parts = "parts" in answer ? answer.parts : [];
    const told = parts.map((part) => object(object(part.data)?.[MEMORY])).find((each) => each !== undefined);
    if (!told) throw new A2AError({ code: 500, status: "INTERNAL", message: "The agent's answer about what it remembers cannot be understood." });
    return list(told["memories"]).flatMap((each) => {
      const found = object(each);
      return found ? [{ id: text(found["id"]), kind: text(found["kind"]), text: text(found["text"]), day: text(found["day"]) }] : [];
    });
  }
}
