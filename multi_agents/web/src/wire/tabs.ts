import { agentUrl } from "./agent";
import { object, text } from "./json";

/** Tells the other tabs of this browser that show the same agent which conversation has changed; no content goes this way. */
export class OtherTabs {
  private readonly channel = new BroadcastChannel(`conversations ${agentUrl()}`);

  tell(id: string): void {
    this.channel.postMessage({ changed: id });
  }

  onChange(listener: (id: string) => void): void {
    this.channel.onmessage = (event) => {
      const id = text(object(event.data)?.["changed"]);
      if (id) listener(id);
    };
  }
}
