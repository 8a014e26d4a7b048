import { useState, type ReactElement } from "react";
import type { Library, Listed } from "../conversation/library";
import { when } from "../turn/units";
import { Icon } from "./Icon";
import { useStored } from "./hooks";

interface Choosing {
  library: Library;
  open: string;
  onOpen: (id: string) => void;
}

/** The conversations, newest first. */
export function Sidebar({ library, open, onOpen }: Choosing): ReactElement {
  const shown = useStored(library);
  const [renaming, setRenaming] = useState("");
  return (
    <>
      <button type="button" className="new" onClick={() => onOpen("")}>
        <Icon name="plus" />
        New conversation
      </button>
      {shown.stage === "loading" && <p className="hint">Reading the conversations</p>}
      {shown.stage === "unreachable" && <p className="hint">The conversations cannot be read now.</p>}
      {shown.stage === "ready" && !shown.entries.length && <p className="hint">Your conversations will stand here.</p>}
      <ul className="conversations">
        {shown.entries.map((entry) => (
          <li key={entry.id}>
            {renaming === entry.id ? (
              <Rename
                entry={entry}
                onDone={(title) => {
                  if (title !== undefined) library.rename(entry.id, title);
                  setRenaming("");
                }}
              />
            ) : (
              <Entry entry={entry} current={entry.id === open} onOpen={onOpen} onRename={() => setRenaming(entry.id)} />
            )}
          </li>
        ))}
      </ul>
      {shown.more && (
        <button type="button" className="soft" onClick={() => void library.older()}>
          Show older
        </button>
      )}
    </>
  );
}

const BADGES = { working: "working", waiting: "waits for you", failed: "failed" } as const;

function Entry({ entry, current, onOpen, onRename }: { entry: Listed; current: boolean; onOpen: (id: string) => void; onRename: () => void }): ReactElement {
  return (
    <div className="entry" data-current={current}>
      <a
        href={`#/c/${entry.id}`}
        aria-current={current ? "page" : undefined}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey) return;
          event.preventDefault();
          onOpen(entry.id);
        }}
      >
        <span className="title">{entry.title}</span>
        <span className="about">
          {entry.badge && <span className={`badge ${entry.badge}`}>{BADGES[entry.badge]}</span>}
          <time dateTime={entry.last.toISOString()}>{when(entry.last)}</time>
        </span>
      </a>
      <button type="button" className="quiet" aria-label={`Rename ${entry.title}`} title="Rename" onClick={onRename}>
        <Icon name="pencil" />
      </button>
    </div>
  );
}

function Rename({ entry, onDone }: { entry: Listed; onDone: (title?: string) => void }): ReactElement {
  const [title, setTitle] = useState(entry.title);
  return (
    <form
      className="rename"
      onSubmit={(event) => {
        event.preventDefault();
        onDone(title);
      }}
    >
      <input
        aria-label="Name of the conversation"
        autoFocus
        value={title}
        onChange={(event) => setTitle(event.target.value)}
        onBlur={() => onDone(title)}
        onKeyDown={(event) => event.key === "Escape" && onDone()}
      />
    </form>
  );
}
