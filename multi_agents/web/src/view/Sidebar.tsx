import { useRef, useState, type ReactElement } from "react";
import type { Listed } from "../conversation/library";
import type { Session } from "../conversation/session";
import { sentence } from "../wire/agent";
import { when } from "../turn/units";
import { visible } from "../turn/visible";
import { DeleteConversation } from "./DeleteConversation";
import { Icon } from "./Icon";
import { useStored } from "./hooks";

interface Choosing {
  session: Session;
  open: string;
  onOpen: (id: string) => void;
}

/** The conversations, newest first. */
export function Sidebar({ session, open, onOpen }: Choosing): ReactElement {
  const { library } = session;
  const shown = useStored(library);
  const [renaming, setRenaming] = useState("");
  const [deleting, setDeleting] = useState<Listed>();
  const [problem, setProblem] = useState("");
  const begin = useRef<HTMLButtonElement>(null);
  const rename = async (id: string, title: string): Promise<void> => {
    try {
      await library.rename(id, title);
      setProblem("");
    } catch (error) {
      setProblem(`The conversation keeps its name. ${sentence(error)}`);
    }
  };
  return (
    <>
      <button ref={begin} type="button" className="new" onClick={() => onOpen("")}>
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
                  if (title !== undefined && title !== entry.title) void rename(entry.id, title);
                  setRenaming("");
                }}
              />
            ) : (
              <Entry entry={entry} current={entry.id === open} onOpen={onOpen} onRename={entry.unsent ? undefined : () => setRenaming(entry.id)} onDelete={shown.deletes || entry.unsent ? () => setDeleting(entry) : undefined} />
            )}
          </li>
        ))}
      </ul>
      {shown.more && (
        <button type="button" className="soft" onClick={() => void library.older()}>
          Show older
        </button>
      )}
      {problem && (
        <p className="hint" role="alert">
          {visible(problem)}
        </p>
      )}
      {deleting && (
        <DeleteConversation
          entry={deleting}
          onDelete={(hereOnly) => session.delete(deleting.id, hereOnly)}
          onClose={() => {
            setDeleting(undefined);
            begin.current?.focus();
          }}
        />
      )}
    </>
  );
}

const BADGES = { working: "working", waiting: "waits for you", failed: "failed", unsent: "not sent" } as const;

interface Row {
  entry: Listed;
  current: boolean;
  onOpen: (id: string) => void;
  onRename: (() => void) | undefined;
  onDelete: (() => void) | undefined;
}

function Entry({ entry, current, onOpen, onRename, onDelete }: Row): ReactElement {
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
        <span className="title" dir="auto">
          {entry.title}
        </span>
        <span className="about">
          {entry.badge && <span className={`badge ${entry.badge}`}>{BADGES[entry.badge]}</span>}
          <time dateTime={entry.last.toISOString()}>{when(entry.last)}</time>
        </span>
      </a>
      <span className="entry-buttons">
        {onRename && (
          <button type="button" className="quiet" aria-label={`Rename ${entry.title}`} title="Rename" onClick={onRename}>
            <Icon name="pencil" />
          </button>
        )}
        {onDelete && (
          <button type="button" className="quiet" aria-label={`Delete ${entry.title}`} title="Delete" onClick={onDelete}>
            <Icon name="bin" />
          </button>
        )}
      </span>
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
        dir="auto"
        autoFocus
        value={title}
        onChange={(event) => setTitle(event.target.value)}
        onBlur={() => onDone(title)}
        onKeyDown={(event) => event.key === "Escape" && onDone()}
      />
    </form>
  );
}
