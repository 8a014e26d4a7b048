import { useEffect, useRef, useState, type ReactElement } from "react";
import { refusal, sentence } from "../wire/agent";
import type { Listed } from "../conversation/library";
import type { Kept } from "../wire/conversations";
import { name, visible } from "../turn/visible";

interface Deleting {
  entry: Listed;
  onDelete: (hereOnly: boolean) => Promise<Kept[]>;
  onClose: () => void;
}

/** Asks before a conversation is deleted, and tells what became of it: who keeps a part, or why nothing was deleted. */
export function DeleteConversation({ entry, onDelete, onClose }: Deleting): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<{ why: string; refused: boolean }>();
  const [kept, setKept] = useState<Kept[]>();
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  const close = (): void => dialog.current?.close();
  const run = async (hereOnly: boolean): Promise<void> => {
    setBusy(true);
    try {
      const left = await onDelete(hereOnly);
      if (left.length) setKept(left);
      else close();
    } catch (error) {
      setProblem({ why: sentence(error), refused: refusal(error) === "refused" });
    }
    setBusy(false);
  };
  const what = entry.unsent ? "message" : "conversation";
  return (
    <dialog ref={dialog} className="ask" aria-labelledby="delete-title" onClose={onClose}>
      <h2 id="delete-title">{kept ? "Deleted here" : `Delete the ${what}?`}</h2>
      <p className="which" dir="auto">
        {entry.title}
      </p>
      {kept ? (
        <ul role="status">
          {kept.map((each) => (
            <li key={each.agent}>
              <strong>{name(each.agent, 80)}</strong> may still have what it was told: {each.foreign ? "it belongs to somebody else, and cannot be made to delete it." : "it could not be reached."}
            </li>
          ))}
        </ul>
      ) : (
        <p>{effect(entry)} This cannot be undone.</p>
      )}
      {problem && (
        <p className="problem" role="alert">
          {visible(problem.why)}
        </p>
      )}
      <div className="buttons">
        {kept ? (
          <button type="button" className="strong" onClick={close}>
            Close
          </button>
        ) : (
          <>
            <button type="button" className="soft" disabled={busy} onClick={close} autoFocus>
              Keep it <kbd>Esc</kbd>
            </button>
            {problem?.refused && (
              <button type="button" className="soft" disabled={busy} onClick={() => void run(true)}>
                Delete here only
              </button>
            )}
            <button type="button" className="strong danger" disabled={busy} onClick={() => void run(false)}>
              {busy ? "Deleting" : problem ? "Try again" : "Delete"}
            </button>
          </>
        )}
      </div>
    </dialog>
  );
}

/** What a deletion does. Of a message whose sending was not answered nobody knows here whether the agent has it. */
function effect(entry: Listed): string {
  if (!entry.unsent) return "This deletes it here and at your own agents that worked on it, and stops what still runs in it. Agents of others keep what they received.";
  if (entry.badge === "unsent") return "No agent has it: it was not sent, and is only in this tab.";
  return "The agent has not confirmed it yet. It is deleted in this tab and not sent again; if the agent has it all the same, the conversation comes back into the list.";
}
