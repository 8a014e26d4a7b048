import { ThreadPrimitive } from "@assistant-ui/react";
import { useEffect, useState, type ReactElement } from "react";
import type { A2APart } from "@assistant-ui/react-a2a";
import type { Conversation, Shown } from "../conversation/conversation";
import type { Question } from "../turn/question";
import type { Turn } from "../turn/turn";
import { name } from "../turn/visible";
import { agentUrl } from "../wire/agent";
import { Composer } from "./Composer";
import type { AgentHealth } from "./hooks";
import { Icon } from "./Icon";
import { lateWords, lineWords, MISSING } from "./line";
import { Asked, Said } from "./Message";
import { QuestionForm } from "./QuestionForm";
import { Welcome } from "./Welcome";

interface Talk {
  conversation: Conversation;
  shown: Shown;
  health: AgentHealth;
  /** The media types that the agent takes. */
  modes: readonly string[];
  send: (parts: A2APart[]) => void;
  onAnswer: (parts: A2APart[], turn: Turn, question: Question) => void;
  onNew: () => void;
}

/** The conversation, and below it where the user answers. One that was opened is shown at its end, a first answer from its beginning. */
export function Thread({ conversation, shown, health, modes, send, onAnswer, onNew }: Talk): ReactElement {
  const { turn } = shown;
  const question = turn?.question;
  const [begunHere] = useState(shown.stage === "new");
  const empty = shown.stage === "new" || (shown.stage === "ready" && !shown.items.length);
  return (
    <ThreadPrimitive.Root asChild>
      <main className="thread">
        <ThreadPrimitive.Viewport className="viewport" tabIndex={0} role="region" aria-label="Conversation" turnAnchor="top" scrollToBottomOnInitialize={!begunHere}>
          <div className="column">
            {empty && <Welcome health={health} onAsk={(request) => send([{ text: request }])} />}
            {shown.stage === "loading" && <Loading />}
            {shown.stage === "missing" && <Missing onNew={onNew} />}
            {shown.stage === "unreachable" && <Unreachable kept={conversation.unsentMessage} onAgain={() => void conversation.load()} />}
            <div data-conversation>
              <ThreadPrimitive.Messages components={{ UserMessage: Asked, AssistantMessage: Said }} />
            </div>
            {!shown.running && !question && <Next requests={turn?.next ?? []} onAsk={(request) => send([{ text: request }])} />}
          </div>
          <ThreadPrimitive.ViewportFooter className="foot">
          {!empty && <ThreadPrimitive.ScrollToBottom className="round to-end" aria-label="Jump to the latest message" title="Jump to the latest message">
            <Icon name="down" />
          </ThreadPrimitive.ScrollToBottom>}
          <Line shown={shown} />
          {question && turn ? (
            <QuestionForm key={question.id || turn.taskId} question={question} refusal={turn.refusal} taskId={turn.taskId} onAnswer={(parts) => onAnswer(parts, turn, question)} onCancel={() => void conversation.stop(turn)} />
          ) : shown.stage === "missing" ? null : (
            <Composer modes={modes} running={shown.running} placeholder={empty ? "Ask a question" : "Ask on"} onStop={() => void conversation.stop()} />
          )}
          </ThreadPrimitive.ViewportFooter>
        </ThreadPrimitive.Viewport>
      </main>
    </ThreadPrimitive.Root>
  );
}

function Next({ requests, onAsk }: { requests: readonly string[]; onAsk: (request: string) => void }): ReactElement | null {
  if (!requests.length) return null;
  return (
    <ul className="next" aria-label="Ask next">
      {requests.map((request) => (
        <li key={request}>
          <button type="button" className="example" onClick={() => onAsk(request)}>
            {name(request, 200)}
          </button>
        </li>
      ))}
    </ul>
  );
}

function Loading(): ReactElement {
  return (
    <div className="loading" aria-label="Reading the conversation">
      <div className="skeleton" />
      <div className="skeleton" />
    </div>
  );
}

function Missing({ onNew }: { onNew: () => void }): ReactElement {
  return (
    <div className="outcome partial">
      <Icon name="warn" />
      <p>{MISSING}</p>
      <button type="button" className="soft" autoFocus onClick={onNew}>
        Begin a new one
      </button>
    </div>
  );
}

function Unreachable({ kept, onAgain }: { kept: boolean; onAgain: () => void }): ReactElement {
  return (
    <div className="outcome failed">
      <Icon name="warn" />
      <p>
        The conversation cannot be read: the agent cannot be reached.
        {kept && " Your message is kept in this tab, and is sent as soon as it can be."}
      </p>
      <button type="button" className="soft" onClick={onAgain}>
        Try again
      </button>
    </div>
  );
}

/** What stands in front of the agent wants a login. In another tab: this one keeps what was written, and goes on after it. */
function SessionEnded(): ReactElement {
  return (
    <p className="line lost">
      {lineWords("portal")}{" "}
      <a href={`${agentUrl()}/`} target="_blank" rel="noreferrer">
        Log in in a new tab
      </a>
    </p>
  );
}

const BACK_SHOWN = 4000;

/** Says that the line is lost, and for a moment that it is back. */
function Line({ shown }: { shown: Shown }): ReactElement | null {
  const [back, setBack] = useState(false);
  const lost = shown.line !== "connected";
  useEffect(() => {
    if (lost || !shown.losses) return undefined;
    setBack(true);
    const timer = setTimeout(() => setBack(false), BACK_SHOWN);
    return () => clearTimeout(timer);
  }, [lost, shown.losses]);
  if (shown.line === "portal") return <SessionEnded />;
  if (lost) return <p className="line lost">{lineWords(shown.line)}</p>;
  if (shown.turn?.late) return <p className="line lost">{lateWords(shown.turn)}</p>;
  return back ? <p className="line back">Connected again.</p> : null;
}
