import type { A2AMessage } from "@assistant-ui/react-a2a";
import type { ThreadMessageLike } from "@assistant-ui/react";
import { answerText, partsFiles, partsText, type FileShown } from "../turn/parts";
import { isForProgram } from "../turn/question";
import type { Turn } from "../turn/turn";
import { withheld, withoutWithheld } from "../turn/withheld";

/** What stands in the conversation, one below the other. */
export interface Item {
  id: string;
  role: "user" | "assistant";
  kind: "request" | "question" | "answer";
  text: string;
  files: FileShown[];
  turn: Turn;
  /** Two items of one turn with the same version show the same. */
  version: number;
  running: boolean;
}

export function itemsOf(turn: Turn): Item[] {
  return [...turn.history.map((message, index) => said_(turn, message, index)), answerOf(turn)];
}

function said_(turn: Turn, message: A2AMessage, index: number): Item {
  const user = message.role === "user";
  const parts = user ? withoutWithheld(message, withheld(turn.history, index)) : message.parts.filter((part) => !isForProgram(part, message));
  return {
    id: message.messageId || `${turn.taskId}-${index}`,
    role: user ? "user" : "assistant",
    kind: user ? "request" : "question",
    text: user ? answerText(parts) : partsText(parts),
    files: partsFiles(parts),
    turn,
    version: -1,
    running: false,
  };
}

function answerOf(turn: Turn): Item {
  return {
    id: `${turn.history[0]?.messageId ?? turn.taskId}-answer`,
    role: "assistant",
    kind: "answer",
    text: turn.answer,
    files: turn.files,
    turn,
    version: turn.version,
    running: turn.open,
  };
}

export function asMessage(item: Item): ThreadMessageLike {
  const common = { id: item.id, createdAt: new Date(item.turn.begun), metadata: { custom: { item } } };
  if (item.role === "user") return { ...common, role: "user", content: [{ type: "text", text: item.text }] };
  return {
    ...common,
    role: "assistant",
    content: [{ type: "text", text: item.text }],
    status: item.running ? { type: "running" } : { type: "complete", reason: "stop" },
  };
}
