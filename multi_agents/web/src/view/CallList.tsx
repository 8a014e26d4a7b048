import { memo, useState, type ReactElement } from "react";
import { isOpen, type Call } from "../turn/calls";
import { count, money, seconds } from "../turn/units";
import { name, visible } from "../turn/visible";
import { useElapsed } from "./hooks";
import { CopyButton } from "./CopyButton";
import { Status } from "./Status";

const SHOWN = 60;

/** The calls of a turn or below one, newest last. Of very many the newest are shown. */
export function CallList({ calls, path, ended }: { calls: readonly Call[]; path: readonly string[]; ended: boolean }): ReactElement | null {
  const [most, setMost] = useState(SHOWN);
  const hidden = Math.max(0, calls.length - most);
  if (!calls.length) return null;
  return (
    <ul className="calls">
      {hidden > 0 && (
        <li>
          <button type="button" className="soft" onClick={() => setMost(most + 500)}>
            Show {count(Math.min(500, hidden))} of {count(hidden)} earlier
          </button>
        </li>
      )}
      {calls.slice(-most).map((call) => (
        <OneCall key={call.key} call={call} version={call.version} path={path} ended={ended} />
      ))}
    </ul>
  );
}

interface Shown {
  call: Call;
  /** Calls change in place: this tells that one did. */
  version: number;
  path: readonly string[];
  ended: boolean;
}

const OneCall = memo(function OneCall({ call, path, ended }: Shown): ReactElement {
  const status = ended && isOpen(call.status) ? "canceled" : call.status;
  if (call.kind === "note") {
    return (
      <li className="note">
        <span>{name(call.label)}</span>
        {call.detail && <small>{name(call.detail, 300)}</small>}
      </li>
    );
  }
  const deeper = call.kind === "agent" ? [...path, call.label] : path;
  return (
    <li className={`call ${call.kind}`}>
      <details>
        <summary>
          <Status status={status} />
          <span className="what">
            <bdi className="name">{name(call.label, 60)}</bdi>
            <small>{name(call.detail, 140)}</small>
          </span>
          <Time call={call} running={!ended && isOpen(status)} />
        </summary>
        <CallDetails call={call} path={deeper} status={status} />
      </details>
      <CallList calls={call.children} path={deeper} ended={ended} />
    </li>
  );
});

function Time({ call, running }: { call: Call; running: boolean }): ReactElement {
  const elapsed = useElapsed(call.since, running);
  const shown = call.seconds ?? (running && elapsed >= 1 ? elapsed : undefined);
  return <span className="time">{shown === undefined ? "" : seconds(shown)}</span>;
}

const RESULTS: Record<string, string> = {
  completed: "succeeded",
  failed: "failed",
  interrupted: "was interrupted",
  canceled: "was stopped",
  "input-required": "waits for you",
  "auth-required": "waits for you to sign in",
  busy: "is busy; the request is sent again by itself",
  away: "cannot be reached; waited for",
};

function CallDetails({ call, path, status }: { call: Call; path: readonly string[]; status: string }): ReactElement {
  return (
    <dl className="details">
      <dt>Acts</dt>
      <dd>{path.map((each) => name(each, 60)).join(" › ")}</dd>
      {call.detail && (
        <>
          <dt>{call.kind === "agent" ? "Request" : "Arguments"}</dt>
          <dd className="words">
            <bdi>{visible(call.detail.slice(0, 4000))}</bdi>
            <CopyButton text={call.detail} what={call.kind === "agent" ? "request" : "arguments"} />
          </dd>
        </>
      )}
      <dt>Result</dt>
      <dd className="words">
        {RESULTS[status] ?? status}
        {call.truncated && ", and the model saw a part of it"}
        {call.result && <bdi className="result">{visible(call.result)}</bdi>}
      </dd>
      {call.seconds !== undefined && (
        <>
          <dt>Time</dt>
          <dd>{seconds(call.seconds)}</dd>
        </>
      )}
      {call.tokens && (
        <>
          <dt>Tokens</dt>
          <dd>
            {count(call.tokens.input)} in, {count(call.tokens.output)} out
            {call.tokens.cost > 0 && `, ${money(call.tokens.cost)}`}
          </dd>
        </>
      )}
      {call.taskId && (
        <>
          <dt>Task</dt>
          <dd className="words">
            <code>{name(call.taskId)}</code>
            <CopyButton text={call.taskId} what="task id" />
          </dd>
        </>
      )}
    </dl>
  );
}
