import type { ReactElement } from "react";
import type { ContextFill, PlanStep, Tokens } from "../wire/extensions";
import { isOpen } from "../turn/calls";
import { count, money, seconds } from "../turn/units";
import { name } from "../turn/visible";
import type { Turn } from "../turn/turn";
import { CallList } from "./CallList";
import { CopyButton } from "./CopyButton";
import { useElapsed } from "./hooks";
import { Status, statusWord } from "./Status";

/** What a turn does, and did: plan, calls, context and tokens. */
export function Work({ turn, agent }: { turn: Turn; agent: string; version: number }): ReactElement {
  return (
    <div className="work">
      <Headline turn={turn} />
      {turn.plan.length > 0 && <Plan steps={turn.plan} state={turn.waits ? "input-required" : turn.open ? "" : "canceled"} />}
      {turn.calls.roots.length > 0 && (
        <section>
          <h3>Calls</h3>
          <CallList calls={turn.calls.roots} path={[agent]} ended={!turn.open && !turn.waits} />
        </section>
      )}
      {turn.context && <Context fill={turn.context} />}
      {turn.usage.length > 0 && <Usage usage={turn.usage} />}
      <Ids turn={turn} />
    </div>
  );
}

function Headline({ turn }: { turn: Turn }): ReactElement {
  const elapsed = useElapsed(turn.begun, turn.open);
  const time = turn.open ? elapsed : (turn.seconds ?? ((turn.ended ?? turn.begun) - turn.begun) / 1000);
  return (
    <p className="headline">
      <Status status={turn.state} />
      <span>{capital(statusWord(turn.state))}</span>
      {time >= 0.05 && <span className="time">{seconds(time)}</span>}
    </p>
  );
}

function capital(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** The steps; one that is open while the turn is not shows why. */
function Plan({ steps, state }: { steps: readonly PlanStep[]; state: string }): ReactElement {
  return (
    <section>
      <h3>Plan</h3>
      <ol className="plan">
        {steps.map((step) => (
          <li key={step.id}>
            <Status status={state && isOpen(step.status) && (state === "canceled" || step.status === "working") ? state : step.status} />
            <span className="what">
              <span className="title">{name(step.title, 240)}</span>
              {step.agent && <small>{name(step.agent, 60)}</small>}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

const KINDS: Record<string, string> = {
  system: "Instructions",
  tools: "Tools",
  pinned: "Your rules",
  summary: "Summary",
  tail: "Conversation",
};

/** How full the model's context is, and of what. */
export function Context({ fill }: { fill: ContextFill }): ReactElement {
  const used = fill.kinds.reduce((sum, [, tokens]) => sum + tokens, 0);
  const share = Math.round((100 * used) / fill.limit);
  const left = fill.kinds.some(([kind, tokens]) => kind === "summary" && tokens > 0);
  return (
    <section>
      <h3>Context</h3>
      <div className="gauge" role="img" aria-label={`${share} % of the context is used`}>
        {fill.kinds.map(([kind, tokens]) => (
          <span key={kind} className={kind} style={{ width: `${Math.min(100, (100 * tokens) / fill.limit)}%` }} />
        ))}
      </div>
      <p className="hint">
        {count(used)} of {count(fill.limit)} tokens, {share} %{left && ". Older turns stand in it as a summary"}
      </p>
      <ul className="legend">
        {fill.kinds
          .filter(([, tokens]) => tokens > 0)
          .map(([kind, tokens]) => (
            <li key={kind}>
              <span className={`dot ${kind}`} />
              {KINDS[kind] ?? kind} <span className="time">{count(tokens)}</span>
            </li>
          ))}
      </ul>
    </section>
  );
}

function Usage({ usage }: { usage: readonly [agent: string, tokens: Tokens][] }): ReactElement {
  const cost = usage.reduce((sum, [, tokens]) => sum + tokens.cost, 0);
  return (
    <section>
      <h3>Tokens</h3>
      <table className="usage">
        <thead>
          <tr>
            <th scope="col">Agent</th>
            <th scope="col">In</th>
            <th scope="col">Out</th>
            {cost > 0 && <th scope="col">Cost</th>}
          </tr>
        </thead>
        <tbody>
          {usage.map(([agent, tokens]) => (
            <tr key={agent}>
              <th scope="row">{name(agent, 40)}</th>
              <td>{count(tokens.input)}</td>
              <td>{count(tokens.output)}</td>
              {cost > 0 && <td>{tokens.cost > 0 ? money(tokens.cost) : "–"}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Ids({ turn }: { turn: Turn }): ReactElement {
  return (
    <section className="ids">
      {turn.taskId && <Id label="Task" value={turn.taskId} />}
      {turn.traceId && <Id label="Trace" value={turn.traceId} />}
    </section>
  );
}

function Id({ label, value }: { label: string; value: string }): ReactElement {
  return (
    <p>
      <span>{label}</span>
      <code>{name(value, 60)}</code>
      <CopyButton text={value} what={`${label.toLowerCase()} id`} />
    </p>
  );
}
