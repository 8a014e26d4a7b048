import type { Turn } from "../turn/turn";
import type { Line } from "../wire/follow";

export const MISSING = "There is no such conversation. It was deleted, or it is somebody else's.";

const WORDS = {
  lost: "The connection is lost. It is taken up again by itself.",
  busy: "The agent is busy. Your message is sent again by itself.",
  portal: "Your login has ended. Log in again: this page then goes on by itself, and nothing that you wrote is lost.",
};

/** What a reader is told of a line to the agent; empty while it is there. */
export function lineWords(line: Line): string {
  return line === "connected" ? "" : WORDS[line];
}

/** What a reader is told whose answer came after another one. */
export function lateWords({ wordsBack }: Turn): string {
  return `Your answer was not taken: the question is no longer open.${wordsBack ? " What you wrote is in the input again." : ""}`;
}
