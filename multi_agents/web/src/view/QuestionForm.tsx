import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactElement, type ReactNode } from "react";
import type { A2APart } from "@assistant-ui/react-a2a";
import { draft, filled, forgetDraft, keepDraft } from "../turn/drafts";
import type { Field, Form, Question } from "../turn/question";
import { name, visible } from "../turn/visible";
import { Icon } from "./Icon";
import { Markdown } from "./Markdown";

interface Asking {
  question: Question;
  /** Why the last answer was not taken; empty where none was refused. */
  refusal: string;
  taskId: string;
  onAnswer: (parts: A2APart[]) => void;
  onCancel: () => void;
}

/** Keys that were meant for what stood here before are not taken for an answer. */
const DEAF = 600;

/** What an agent asks, in the place of the input. Enter is the answer, Esc is no. */
export function QuestionForm({ question, refusal, taskId, onAnswer, onCancel }: Asking): ReactElement {
  const form = question.form;
  const answer = (parts: A2APart[]): void => {
    forgetDraft(taskId);
    onAnswer(parts);
  };
  const say = (words: string): void => answer([{ text: words }]);
  return (
    <section className="question-form" aria-label="The agent asks">
      <p className="asks">
        <Icon name="warn" />
        <span>
          <bdi>{name(question.origin, 80) || "The agent"}</bdi> {form?.approval ? "asks for your approval" : question.signIn ? "asks you to sign in" : "asks"}
        </span>
      </p>
      {question.text && (
        <div className="asked-text" tabIndex={0} role="region" aria-label="What is asked">
          <Markdown text={question.text} />
        </div>
      )}
      {refusal && (
        <p className="problem" role="alert">
          Your answer was not taken. {visible(refusal)}
        </p>
      )}
      {question.signIn && !form && (
        <Buttons onNo={onCancel} no="Not now">
          <button type="button" className="strong" onClick={() => say("done")}>
            I have signed in
          </button>
        </Buttons>
      )}
      {form?.approval && <Approval form={form} onAnswer={answer} />}
      {form && !form.approval && <Fields form={form} taskId={taskId} onAnswer={answer} onCancel={onCancel} />}
      {!form && !question.signIn && <Words onSay={say} onCancel={onCancel} />}
      {form && <OtherWords onSay={say} />}
    </section>
  );
}

function Approval({ form, onAnswer }: { form: Form; onAnswer: (parts: A2APart[]) => void }): ReactElement {
  const [shownAt] = useState(() => performance.now());
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.focus(), []);
  const decide = (approve: boolean): void => onAnswer([{ data: { approve, ...form.fixed }, mediaType: "application/json" }]);
  const onKey = (event: KeyboardEvent): void => {
    if (event.target !== box.current || performance.now() - shownAt < DEAF) return;
    if (event.key === "Enter") decide(true);
    if (event.key === "Escape") decide(false);
  };
  const yes = form.fields[0]?.title;
  return (
    <div ref={box} className="approval" tabIndex={-1} role="group" aria-label={name(form.title, 200) || "Approval"} onKeyDown={onKey}>
      {form.title && <p className="title">{name(form.title, 300)}</p>}
      <Buttons onNo={() => decide(false)} no="No, do nothing">
        <button type="button" className="strong" onClick={() => decide(true)}>
          {yes && yes !== "approve" ? name(yes, 60) : "Approve"} <kbd>Enter</kbd>
        </button>
      </Buttons>
    </div>
  );
}

function Fields({ form, taskId, onAnswer, onCancel }: { form: Form; taskId: string; onAnswer: (parts: A2APart[]) => void; onCancel: () => void }): ReactElement {
  const [values, setValues] = useState(() => draft(taskId, form));
  const [problem, setProblem] = useState("");
  const set = (field: string, value: unknown): void => {
    const next = { ...values, [field]: value };
    setValues(next);
    keepDraft(taskId, form, next);
  };
  const send = (): void => {
    const answer = filled(form, values);
    if (typeof answer === "string") setProblem(answer);
    else onAnswer([{ data: answer, mediaType: "application/json" }]);
  };
  return (
    <form
      className="fields"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onKeyDown={(event) => event.key === "Escape" && onCancel()}
    >
      {form.title && <p className="title">{name(form.title, 300)}</p>}
      {form.fields.some((field) => field.secret) && (
        <p className="warning" role="alert">
          <Icon name="warn" />
          This form asks for what looks like a password or a key. What you write is sent to the agent as plain text and is stored with the conversation. Do not enter a secret here.
        </p>
      )}
      {form.fields.map((field, index) => (
        <OneField key={field.name} field={field} value={values[field.name]} first={index === 0} onChange={(value) => set(field.name, value)} />
      ))}
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <Buttons onNo={onCancel} no="Cancel">
        <button type="submit" className="strong">
          Send <kbd>Enter</kbd>
        </button>
      </Buttons>
    </form>
  );
}

function OneField({ field, value, first, onChange }: { field: Field; value: unknown; first: boolean; onChange: (value: unknown) => void }): ReactElement {
  const id = useId();
  const common = { id, required: field.required, autoFocus: first, "aria-describedby": field.description ? `${id}-about` : undefined };
  const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
  if (field.kind === "yes-no") {
    return (
      <label className="field check" htmlFor={id}>
        <input {...common} type="checkbox" checked={value === true} onChange={(event) => onChange(event.target.checked)} />
        <FieldName field={field} id={id} />
      </label>
    );
  }
  if (field.kind === "choices") return <Choices field={field} value={Array.isArray(value) ? value.map(String) : []} onChange={onChange} />;
  return (
    <div className="field">
      <label htmlFor={id}>
        <FieldName field={field} id={id} />
      </label>
      {field.kind === "choice" ? (
        <select {...common} value={text} onChange={(event) => onChange(event.target.value)}>
          <option value="">Choose</option>
          {field.options.map((option) => (
            <option key={option} value={option}>
              {name(option)}
            </option>
          ))}
        </select>
      ) : field.kind === "lines" || field.kind === "json" ? (
        <textarea {...common} rows={4} value={text} onChange={(event) => onChange(event.target.value)} />
      ) : (
        <input {...common} type="text" inputMode={field.kind === "number" ? "decimal" : "text"} autoComplete="off" value={text} onChange={(event) => onChange(event.target.value)} />
      )}
    </div>
  );
}

function Choices({ field, value, onChange }: { field: Field; value: string[]; onChange: (value: string[]) => void }): ReactElement {
  return (
    <fieldset className="field">
      <legend>{name(field.title, 200)}</legend>
      {field.options.map((option) => (
        <label key={option} className="check">
          <input type="checkbox" checked={value.includes(option)} onChange={(event) => onChange(event.target.checked ? [...value, option] : value.filter((each) => each !== option))} />
          <span>{name(option)}</span>
        </label>
      ))}
    </fieldset>
  );
}

function FieldName({ field, id }: { field: Field; id: string }): ReactElement {
  return (
    <span className="field-name">
      {name(field.title, 200)}
      {!field.required && field.kind !== "yes-no" && <small>optional</small>}
      {field.description && <small id={`${id}-about`}>{visible(field.description.slice(0, 600))}</small>}
    </span>
  );
}

function Words({ onSay, onCancel }: { onSay: (words: string) => void; onCancel: () => void }): ReactElement {
  const [words, setWords] = useState("");
  return (
    <form
      className="fields"
      onSubmit={(event) => {
        event.preventDefault();
        if (words.trim()) onSay(words);
      }}
      onKeyDown={(event) => event.key === "Escape" && onCancel()}
    >
      <input className="reply" aria-label="Your answer" placeholder="Your answer" autoFocus autoComplete="off" value={words} onChange={(event) => setWords(event.target.value)} />
      <Buttons onNo={onCancel} no="Never mind">
        <button type="submit" className="strong" disabled={!words.trim()}>
          Answer <kbd>Enter</kbd>
        </button>
      </Buttons>
    </form>
  );
}

/** Whoever wants to say something else need not fill in the form. */
function OtherWords({ onSay }: { onSay: (words: string) => void }): ReactElement {
  const [words, setWords] = useState("");
  return (
    <details className="other-words">
      <summary>Say something else</summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (words.trim()) onSay(words);
        }}
      >
        <input className="reply" aria-label="Say something else" autoComplete="off" value={words} onChange={(event) => setWords(event.target.value)} />
        <button type="submit" className="soft" disabled={!words.trim()}>
          Send
        </button>
      </form>
    </details>
  );
}

function Buttons({ children, no, onNo }: { children: ReactNode; no: string; onNo: () => void }): ReactElement {
  return (
    <div className="buttons">
      <button type="button" className="soft" onClick={onNo}>
        {no} <kbd>Esc</kbd>
      </button>
      {children}
    </div>
  );
}
