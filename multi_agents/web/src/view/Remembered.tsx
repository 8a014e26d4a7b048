import { useCallback, useEffect, useRef, useState, type ReactElement } from "react";
import { sentence } from "../wire/agent";
import type { Memories, Memory } from "../wire/memories";
import { name, visible } from "../turn/visible";
import { Icon } from "./Icon";

/** What the agent remembers of the reader beyond a conversation, each with a button that has it forgotten. */
export function Remembered({ memories, onClose }: { memories: Memories; onClose: () => void }): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  const [found, setFound] = useState<Memory[]>();
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const [sure, setSure] = useState(false);
  const run = useCallback(
    async (work: () => Promise<void>): Promise<void> => {
      setBusy(true);
      setSure(false);
      try {
        await work();
        setFound(await memories.all());
        setProblem("");
      } catch (error) {
        setProblem(sentence(error));
      }
      setBusy(false);
    },
    [memories],
  );
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
    void run(async () => {});
  }, [run]);
  return (
    <dialog ref={dialog} className="ask" aria-labelledby="remembered-title" onClose={onClose}>
      <h2 id="remembered-title">Your memories</h2>
      <p>The agent uses these in all your conversations. They come from your own words.</p>
      {problem && (
        <p className="problem" role="alert">
          {visible(problem)}
        </p>
      )}
      {!found && !problem && <p role="status">Reading</p>}
      {found && <p role="status">{found.length ? "" : "You have no memories here."}</p>}
      <ul className="remembered" tabIndex={0} aria-label="Your memories">
        {found?.map((each) => (
          <li key={each.id}>
            <span>
              {visible(each.text.slice(0, 1000)) || "(no key reads it)"}
              <small>
                {name(each.kind, 20)}, {name(each.day, 10)}
              </small>
            </span>
            <button type="button" className="quiet" aria-label={`Forget ${name(each.text, 80)}`} title="Forget" disabled={busy} onClick={() => void run(() => memories.forget(each.id))}>
              <Icon name="bin" />
            </button>
          </li>
        ))}
      </ul>
      <div className="buttons">
        {found && found.length > 0 && (
          <button type="button" className={sure ? "strong danger" : "soft"} disabled={busy} onClick={() => (sure ? void run(() => memories.forgetAll()) : setSure(true))}>
            {sure ? `Forget all ${found.length}, for good` : "Forget all"}
          </button>
        )}
        <button type="button" className="soft" autoFocus onClick={() => dialog.current?.close()}>
          Close <kbd>Esc</kbd>
        </button>
      </div>
    </dialog>
  );
}
