import type { ReactElement } from "react";

const WORDS: Record<string, string> = {
  pending: "not begun",
  submitted: "begins",
  working: "working",
  completed: "done",
  failed: "failed",
  rejected: "refused",
  canceled: "stopped",
  interrupted: "interrupted",
  "input-required": "waits for you",
  input_required: "waits for you",
  "auth-required": "waits for you",
  auth_required: "waits for you",
  busy: "busy",
  away: "away",
};

export function statusWord(status: string): string {
  return WORDS[status] ?? status;
}

/** How far something is: a sign, and a word for those who do not see it. */
export function Status({ status }: { status: string }): ReactElement {
  return (
    <span className={`status ${status.replace("_", "-")}`}>
      <span className="hidden">{statusWord(status)}</span>
    </span>
  );
}
