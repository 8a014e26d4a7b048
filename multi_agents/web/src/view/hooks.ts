import { useEffect, useState, useSyncExternalStore } from "react";
import type { A2AAgentCard } from "@assistant-ui/react-a2a";
import type { Session } from "../conversation/session";
import { agentUrl } from "../wire/agent";
import { list, object, text } from "../wire/json";
import { Newest } from "../wire/newest";

export function useStored<Value>(store: { subscribe: (listener: () => void) => () => void; snapshot: () => Value }): Value {
  return useSyncExternalStore(store.subscribe, store.snapshot);
}

/** Seconds since `begun`, counted on while `running`. */
export function useElapsed(begun: number, running: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!running) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [running]);
  return Math.max(0, (now - begun) / 1000);
}

export interface AgentHealth {
  card: A2AAgentCard | undefined;
  /** Milliseconds that its card took; undefined while it cannot be reached. */
  latency: number | undefined;
  ready: boolean;
  detail: string;
  without: string[];
}

const LOOK_AGAIN = 15_000;
const UNKNOWN: AgentHealth = { card: undefined, latency: undefined, ready: true, detail: "", without: [] };

/** The agent's card, and how it is; looked at again while the page is seen. */
export function useHealth(session: Session): AgentHealth {
  const [health, setHealth] = useState(UNKNOWN);
  useEffect(() => {
    let gone = false;
    const looks = new Newest();
    const look = async (): Promise<void> => {
      const counts = looks.ask();
      const found = await readHealth(session);
      if (!gone && counts()) setHealth((before) => ({ ...found, card: found.card ?? before.card }));
    };
    void look();
    const timer = setInterval(() => {
      if (!document.hidden) void look();
    }, LOOK_AGAIN);
    return () => {
      gone = true;
      clearInterval(timer);
    };
  }, [session]);
  return health;
}

async function readHealth(session: Session): Promise<AgentHealth> {
  try {
    const begun = performance.now();
    const card = await session.client.getAgentCard();
    const latency = Math.round(performance.now() - begun);
    session.introduced(card);
    const answer = await fetch(`${agentUrl()}/readyz`);
    const told = object(await answer.json()) ?? {};
    return { card, latency, ready: told["status"] === "ready", detail: text(told["detail"]) || text(told["busy"]), without: list(told["without"]).map(String) };
  } catch {
    return { ...UNKNOWN, ready: false, detail: "The agent cannot be reached." };
  }
}
