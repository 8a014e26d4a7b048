import { MessagePrimitive, useAui, useAuiState } from "@assistant-ui/react";
import { useMemo, type ReactElement } from "react";
import type { Item } from "../conversation/items";
import { withSources } from "../turn/sources";
import { count, seconds } from "../turn/units";
import { name, visible } from "../turn/visible";
import { CopyButton } from "./CopyButton";
import { Files } from "./Files";
import { Icon } from "./Icon";
import { Markdown } from "./Markdown";
import { Sources } from "./Sources";
import { Status } from "./Status";
import { useDesk } from "./desk";
import { Work } from "./Work";

const STOPS = "It is stopped as soon as the agent answers";

function useItem(): Item {
  return useAuiState((state) => state.message.metadata.custom["item"] as Item);
}

/** What the user said. */
export function Asked(): ReactElement {
  const item = useItem();
  const aui = useAui();
  return (
    <MessagePrimitive.Root className="message asked">
      <h2 className="hidden">You</h2>
      <div className="bubble" dir="auto">
        {visible(item.text)}
        <Files files={item.files} />
      </div>
      <div className="actions">
        <CopyButton text={item.text} what="message" />
        <button type="button" className="quiet" title="Copy into the input" aria-label="Copy into the input" onClick={() => aui.thread.composer().setText(item.text)}>
          <Icon name="pencil" />
        </button>
      </div>
    </MessagePrimitive.Root>
  );
}

/** What the agent said: a question that was answered, or the answer. */
export function Said(): ReactElement {
  const item = useItem();
  return (
    <MessagePrimitive.Root className={`message said ${item.kind}`}>
      {(item.kind === "question" || item.text || !item.turn.waits) && <h2 className="hidden">Answer</h2>}
      {item.kind === "question" ? <Markdown text={item.text} /> : <Answer item={item} />}
    </MessagePrimitive.Root>
  );
}

/** A screen reader is told the answer once it is whole: its words are not read out while they come. */
function Answer({ item }: { item: Item }): ReactElement {
  const { turn } = item;
  const { text, sources } = useMemo(() => withSources(item.text), [item.text]);
  return (
    <>
      <WorkLine item={item} />
      <div aria-live="polite" aria-busy={item.running}>
        {text && <Markdown text={text} />}
      </div>
      {item.running && (!text || turn.stops) && <p className="thinking">{turn.stops ? STOPS : name(turn.doing, 300) || "Working"}</p>}
      <Sources sources={sources} />
      <Files files={item.files} />
      <Outcome item={item} />
      {turn.notice && !item.running && <p className="notice">{visible(turn.notice)}</p>}
      {!item.running && (text || !turn.waits) && <Actions item={item} text={item.text} />}
    </>
  );
}

/** One line that says what was done, and opens it. On a wide screen the work stands beside the conversation. */
function WorkLine({ item }: { item: Item }): ReactElement | null {
  const { turn } = item;
  const desk = useDesk();
  const tokens = turn.usage.reduce((sum, [, each]) => sum + each.input + each.output, 0);
  const agents = turn.calls.roots.filter((call) => call.kind === "agent").map((call) => call.label);
  if (!turn.calls.size && !turn.plan.length && !tokens) return null;
  const told = [
    agents.length ? [...new Set(agents)].map((agent) => name(agent, 40)).join(", ") : "",
    turn.seconds === undefined || item.running ? "" : seconds(turn.seconds),
    tokens ? `${count(tokens)} tokens` : "",
  ].filter(Boolean);
  const line = (
    <>
      <Status status={turn.state} />
      <span>{told.join(" · ") || "Working"}</span>
      <Icon name="chevron" />
    </>
  );
  if (desk.wide) {
    return (
      <button type="button" className="work-line" aria-pressed={desk.shown === turn} onClick={() => desk.show(turn)} title="Show the work beside the conversation">
        {line}
      </button>
    );
  }
  return (
    <details className="work-inline">
      <summary className="work-line">{line}</summary>
      <Work turn={turn} agent={desk.agent} version={turn.version} />
    </details>
  );
}

function Outcome({ item }: { item: Item }): ReactElement | null {
  const { turn } = item;
  if (turn.state === "canceled") {
    return <p className="outcome canceled">Stopped.{turn.error?.message && ` ${visible(turn.error.message)}`}</p>;
  }
  if (turn.failure) {
    return (
      <div className="outcome failed">
        <Icon name="warn" />
        <p>
          {visible(turn.failure)}
          {turn.error?.code && <code>{name(turn.error.code, 60)}</code>}
        </p>
      </div>
    );
  }
  if (turn.state === "completed" && turn.error?.message) {
    return (
      <div className="outcome partial">
        <Icon name="warn" />
        <p>{visible(turn.error.message)}</p>
      </div>
    );
  }
  return null;
}

function Actions({ item, text }: { item: Item; text: string }): ReactElement {
  const desk = useDesk();
  const trace = item.turn.error?.traceId || (item.turn.state === "canceled" ? item.turn.traceId : "");
  return (
    <div className="actions">
      {text && <CopyButton text={text} what="answer" />}
      {!desk.asks && (
        <button type="button" className="quiet" aria-label="Ask again" title="Ask again" onClick={() => desk.again(item.turn)}>
          <Icon name="retry" />
        </button>
      )}
      {trace && <CopyButton text={trace} what="trace id" label="Trace id" />}
    </div>
  );
}
