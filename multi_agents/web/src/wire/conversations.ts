import { A2AError, type A2AAgentCard, type A2AClient } from "@assistant-ui/react-a2a";
import { CONVERSATIONS } from "./extensions";
import { list, object, text, type Json } from "./json";
import { randomId } from "./proof";

const PAGE = 50;

/** An agent that still has what it was told in a conversation that was deleted. */
export interface Kept {
  agent: string;
  /** It belongs to somebody else, and cannot be made to delete; otherwise it did not answer. */
  foreign: boolean;
}

export interface Titles {
  titles: [contextId: string, title: string][];
  next: string;
}

/** Whether an agent keeps titles of conversations, and deletes them: docs/a2a.md, the extension for conversations. */
export function keepsConversations(card: A2AAgentCard): boolean {
  return list(object(card.capabilities)?.["extensions"]).some((each) => object(each)?.["uri"] === CONVERSATIONS);
}

/** What an agent does with a person's conversations beside answering in them. */
export class StoredConversations {
  constructor(private readonly client: A2AClient) {}

  /** A page of the titles, those of the conversations that changed last first. */
  async titles(pageToken: string): Promise<Titles> {
    const told = await this.ask({ action: "list", limit: PAGE, pageToken });
    const titles = list(told["conversations"]).flatMap((each) => {
      const found = object(each);
      return found ? [[text(found["contextId"]), text(found["title"])] as [string, string]] : [];
    });
    return { titles, next: text(told["nextPageToken"]) };
  }

  /** Give a conversation a title; an empty one takes it away. */
  async rename(contextId: string, title: string): Promise<void> {
    await this.ask({ action: "rename", contextId, title });
  }

  /** Delete a conversation, and tell which agents keep their part. With `hereOnly` also where one of ours is away. */
  async delete(contextId: string, hereOnly: boolean): Promise<Kept[]> {
    const told = await this.ask({ action: "delete", contextId, hereOnly });
    return list(told["kept"]).flatMap((each) => {
      const kept = object(each);
      return kept ? [{ agent: text(kept["agent"]), foreign: kept["reason"] === "foreign" }] : [];
    });
  }

  private async ask(asked: Json): Promise<Json> {
    const answer = await this.client.sendMessage({ messageId: randomId(), role: "user", parts: [{ data: { [CONVERSATIONS]: asked } }] });
    const parts = "parts" in answer ? answer.parts : [];
    const told = parts.map((part) => object(object(part.data)?.[CONVERSATIONS])).find((each) => each !== undefined);
    if (!told) throw new A2AError({ code: 500, status: "INTERNAL", message: "The agent's answer about the conversation cannot be understood." });
    return told;
  }
}
