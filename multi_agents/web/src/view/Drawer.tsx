import { useEffect, useRef, useState, type ReactElement } from "react";
import type { A2AAgentCard, A2AStreamEvent } from "@assistant-ui/react-a2a";
import type { Turn } from "../turn/turn";
import { count } from "../turn/units";
import { visible } from "../turn/visible";
import { shownHistory } from "../turn/withheld";
import type { Credentials } from "../wire/credentials";
import { CopyButton } from "./CopyButton";
import { Icon } from "./Icon";
import { Rules } from "./Rules";

const SHOWN = 100;

interface Behind {
  card: A2AAgentCard | undefined;
  turn: Turn | undefined;
  credentials: Credentials;
  onClose: () => void;
}

/** What is behind the page: the events of a turn, the agent's card, and which rules of the protocol it keeps. */
export function Drawer({ card, turn, credentials, onClose }: Behind): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  const [tab, setTab] = useState<"events" | "card" | "rules">("events");
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} className="drawer" aria-label="Behind the page" onClose={onClose} onClick={(event) => event.target === dialog.current && dialog.current.close()}>
      <div className="drawer-body">
        <header>
          <div role="tablist" aria-label="Behind the page">
            <Tab name="Events" chosen={tab === "events"} onChoose={() => setTab("events")} />
            <Tab name="Card" chosen={tab === "card"} onChoose={() => setTab("card")} />
            <Tab name="Rules" chosen={tab === "rules"} onChoose={() => setTab("rules")} />
          </div>
          <button type="button" className="quiet" aria-label="Close" onClick={() => dialog.current?.close()}>
            <Icon name="cross" />
          </button>
        </header>
        {tab === "events" && <Events events={(turn?.events ?? []).map(shown)} />}
        {tab === "card" && <Raw text={JSON.stringify(card ?? {}, null, 2)} what="card" />}
        {tab === "rules" && <Rules seen={{ credentials, events: turn?.events ?? [] }} />}
      </div>
    </dialog>
  );
}

/** An event as it came, but for what was written in fields for passwords. */
function shown(event: A2AStreamEvent): A2AStreamEvent {
  return event.type === "task" && event.task.history ? { ...event, task: { ...event.task, history: shownHistory(event.task.history) } } : event;
}

function Tab({ name, chosen, onChoose }: { name: string; chosen: boolean; onChoose: () => void }): ReactElement {
  return (
    <button type="button" role="tab" aria-selected={chosen} className="tab" onClick={onChoose}>
      {name}
    </button>
  );
}

function Events({ events }: { events: readonly A2AStreamEvent[] }): ReactElement {
  const [most, setMost] = useState(SHOWN);
  if (!events.length) return <p className="hint">The events of the turn that you follow stand here. Those of an earlier visit are not kept by the browser.</p>;
  return (
    <>
      <p className="hint">
        {count(events.length)} events, the newest first
        <CopyButton text={events.map((event) => JSON.stringify(event)).join("\n")} what="all events" label="Copy all" />
      </p>
      <ol className="events">
        {events
          .slice(-most)
          .reverse()
          .map((event, index) => (
            <li key={events.length - index}>
              <details>
                <summary>
                  <span className="time">{events.length - index}</span> {event.type}
                </summary>
                <Raw text={JSON.stringify(event, null, 2)} what="event" />
              </details>
            </li>
          ))}
      </ol>
      {events.length > most && (
        <button type="button" className="soft" onClick={() => setMost(most + 500)}>
          Show more
        </button>
      )}
    </>
  );
}

function Raw({ text, what }: { text: string; what: string }): ReactElement {
  return (
    <figure className="code">
      <figcaption>
        <span>json</span>
        <CopyButton text={text} what={what} />
      </figcaption>
      <pre tabIndex={0}>{visible(text.slice(0, 50_000))}</pre>
    </figure>
  );
}
