import { createContext, useContext } from "react";
import type { Turn } from "../turn/turn";

/** What messages need of the page around them. */
export interface Desk {
  /** Whether there is room for the work beside the conversation. */
  wide: boolean;
  agent: string;
  /** The turn whose work stands beside. */
  shown: Turn | undefined;
  /** Whether the conversation waits for an answer, so that nothing new is asked in it. */
  asks: boolean;
  show: (turn: Turn) => void;
  again: (turn: Turn) => void;
}

export const DeskContext = createContext<Desk>({ wide: false, agent: "", shown: undefined, asks: false, show: () => undefined, again: () => undefined });

export function useDesk(): Desk {
  return useContext(DeskContext);
}
