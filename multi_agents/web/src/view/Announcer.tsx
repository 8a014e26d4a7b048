import { useEffect, useRef, useState, type ReactElement } from "react";
import type { Shown } from "../conversation/conversation";
import { name } from "../turn/visible";
import { lateWords, lineWords, MISSING } from "./line";

/** Tells a screen reader how far a turn is. The words of an answer are not read out while they come. */
export function Announcer({ shown }: { shown: Shown }): ReactElement {
  const [said, setSaid] = useState("");
  const before = useRef("");
  const now = stateOf(shown);
  useEffect(() => {
    const settledOnLoad = !before.current;
    const changed = before.current !== now;
    before.current = now;
    if (changed && !settledOnLoad) setSaid(now);
  }, [now]);
  return (
    <div role="status" className="hidden">
      {said}
    </div>
  );
}

function stateOf({ stage, turn, line }: Shown): string {
  if (line === "lost" || line === "portal") return lineWords(line);
  if (!turn) return stage === "missing" ? MISSING : "Ready";
  if (turn.question) return `${name(turn.question.origin, 60) || "The agent"} asks you something.`;
  if (turn.open) return "Working";
  if (turn.failure) return `Failed. ${name(turn.failure, 200)}`;
  if (turn.late) return lateWords(turn);
  return turn.state === "canceled" ? "Stopped" : "The answer is ready.";
}
