import { useEffect, useId, useRef, useState, type KeyboardEvent, type MouseEvent, type ReactElement, type ReactNode } from "react";
import { useAui, useAuiState, useThreadViewport } from "@assistant-ui/react";
import type { A2APart } from "@assistant-ui/react-a2a";
import { draft, filled, keepDraft } from "../turn/drafts";
import type { Field, FieldKind, Form, Question } from "../turn/question";
import { name, visible } from "../turn/visible";
import { Icon } from "./Icon";
import { escapes, repeats, useAwake, useLateEnter, useQuiet } from "./keys";
import { Markdown } from "./Markdown";

interface Asking {
  question: Question;
  /** Why the last answer was not taken; empty where none was refused. */
  refusal: string;
  taskId: string;
  onAnswer: (parts: A2APart[]) => void;
  onCancel: () => void;
}

/**
 * What an agent asks, in the place of the input. Enter is the answer, Esc is no. Who is writing when it comes goes on writing, in the field for
 * something else, so that no key that was meant for the input answers. What was not sent is in the input again afterwards.
 * It comes with what it is about in view: the focus that it takes would leave the page in the middle of the scroll to the request.
 */
export function QuestionForm({ question, refusal, taskId, onAnswer, onCancel }: Asking): ReactElement {
  const form = question.form;
  const aui = useAui();
  const begun = useAuiState((state) => state.composer.text);
  const [own, show] = useState<string>(); // what was written here; until then it is what stands in the input, where words may come back
  const words = own ?? begun;
  const [wrote, setWrote] = useState(begun !== "");
  const writing = wrote || (own === undefined && begun !== "");
  const isLate = useLateEnter(begun !== "");
  const toEnd = useThreadViewport((viewport) => viewport.scrollToBottom);
  useEffect(() => toEnd({ behavior: "instant" }), [toEnd]);
  const setWords = (written: string): void => {
    show(written);
    aui.composer.setText(written);
  };
  const say = (said: string): void => {
    setWords("");
    onAnswer([{ text: said }]);
  };
  return (
    <section className="question-form" aria-label="The agent asks" onKeyDownCapture={(event) => isLate(event) && event.preventDefault()}>
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
          <button type="button" className="strong" onClick={() => onAnswer([{ text: "done" }])}>
            I have signed in
          </button>
        </Buttons>
      )}
      {form?.approval && (
        <Approval
          form={form}
          writing={writing}
          onAnswer={onAnswer}
          onWrite={(key) => {
            setWords(key);
            setWrote(true);
          }}
        />
      )}
      {form && !form.approval && <Fields form={form} taskId={taskId} writing={writing} onAnswer={onAnswer} onCancel={onCancel} />}
      {!form && !question.signIn && <Words words={words} onWords={setWords} onSay={say} onCancel={onCancel} />}
      {form && <OtherWords words={words} writing={writing} onWords={setWords} onSay={say} />}
    </section>
  );
}

interface Deciding {
  form: Form;
  /** Whether the user is writing something else, so that Enter ends that. */
  writing: boolean;
  onAnswer: (parts: A2APart[]) => void;
  /** A key that begins to write something. */
  onWrite: (key: string) => void;
}

function Approval({ form, writing, onAnswer, onWrite }: Deciding): ReactElement {
  const quiet = useQuiet();
  const awake = useAwake();
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!writing) box.current?.focus();
  }, [writing]);
  const decide = (approve: boolean): void => onAnswer([{ data: { approve, ...form.fixed }, mediaType: "application/json" }]);
  const onKey = (event: KeyboardEvent): void => {
    if (event.target !== box.current) return;
    const meant = quiet(event) && !event.repeat;
    if (event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      onWrite(event.key);
    } else if (meant) {
      if (event.key === "Enter") decide(true);
      if (event.key === "Escape") decide(false);
    }
  };
  const onClick = (event: MouseEvent, approve: boolean): void => {
    if (event.timeStamp >= awake && !repeats(event)) decide(approve);
  };
  const early = awake === Infinity;
  const yes = form.fields[0]?.title;
  return (
    <div ref={box} className="approval" tabIndex={-1} role="group" aria-label={name(form.title, 200) || "Approval"} onKeyDown={onKey}>
      {form.title && <p className="title">{name(form.title, 300)}</p>}
      <Buttons onNo={(event) => onClick(event, false)} no="No, do nothing" disabled={early}>
        <button type="button" className="strong" disabled={early} onClick={(event) => onClick(event, true)}>
          {yes && yes !== "approve" ? name(yes, 60) : "Approve"} {!writing && <kbd>Enter</kbd>}
        </button>
      </Buttons>
    </div>
  );
}

/** Escape cancels. In a field where something stands it first leaves the field, so that nothing that was filled in is lost by one key. */
function useEscape(onCancel: () => void): (event: KeyboardEvent<HTMLFormElement>) => void {
  const quiet = useQuiet();
  return (event) => {
    const meant = quiet(event);
    if (!escapes(event)) return;
    const at = event.target;
    const filled = (at instanceof HTMLInputElement && at.type !== "checkbox") || at instanceof HTMLTextAreaElement || at instanceof HTMLSelectElement ? at.value : "";
    if (filled) event.currentTarget.querySelector<HTMLButtonElement>(".buttons button")?.focus();
    else if (meant) onCancel();
  };
}

function Fields({ form, taskId, writing, onAnswer, onCancel }: { form: Form; taskId: string; writing: boolean; onAnswer: (parts: A2APart[]) => void; onCancel: () => void }): ReactElement {
  const [values, setValues] = useState(() => draft(taskId, form));
  const [problem, setProblem] = useState("");
  const cancels = useEscape(onCancel);
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
      onKeyDown={cancels}
    >
      {form.title && <p className="title">{name(form.title, 300)}</p>}
      {form.fields.some((field) => field.secret) && (
        <p className="warning" role="alert">
          <Icon name="warn" />
          This form asks for what looks like a password or a key. What you write is sent to the agent as plain text and is stored with the conversation. Do not enter a secret here.
        </p>
      )}
      {form.fields.map((field, index) => (
        <OneField key={field.name} field={field} value={values[field.name]} first={index === 0 && !writing} onChange={(value) => set(field.name, value)} />
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

const LONG: ReadonlySet<FieldKind> = new Set(["lines", "list", "json"]);

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
      ) : LONG.has(field.kind) && !field.masked ? (
        <textarea {...common} dir="auto" rows={4} value={text} onChange={(event) => onChange(event.target.value)} />
      ) : (
        <input {...common} dir="auto" type={field.masked ? "password" : "text"} inputMode={field.kind === "number" ? "decimal" : "text"} autoComplete="off" value={text} onChange={(event) => onChange(event.target.value)} />
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
      {field.kind === "list" && <small>one a line</small>}
      {field.description && <small id={`${id}-about`}>{visible(field.description.slice(0, 600))}</small>}
    </span>
  );
}

interface Writing {
  words: string;
  onWords: (words: string) => void;
  onSay: (words: string) => void;
}

function Words({ words, onWords, onSay, onCancel }: Writing & { onCancel: () => void }): ReactElement {
  const cancels = useEscape(onCancel);
  return (
    <form
      className="fields"
      onSubmit={(event) => {
        event.preventDefault();
        if (words.trim()) onSay(words.trim());
      }}
      onKeyDown={cancels}
    >
      <Reply label="Your answer" words={words} focused onWords={onWords} />
      <Buttons onNo={onCancel} no="Never mind">
        <button type="submit" className="strong" disabled={!words.trim()}>
          Answer <kbd>Enter</kbd>
        </button>
      </Buttons>
    </form>
  );
}

/** Whoever wants to say something else need not fill in the form. */
function OtherWords({ words, writing, onWords, onSay }: Writing & { writing: boolean }): ReactElement {
  return (
    <details
      className="other-words"
      open={writing || undefined}
      onToggle={(event) => {
        if (event.currentTarget.open) event.currentTarget.querySelector("input")?.focus();
      }}
    >
      <summary>Say something else</summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (words.trim()) onSay(words.trim());
        }}
      >
        <Reply label="Say something else" words={words} focused={writing} onWords={onWords} />
        <button type="submit" className="soft" disabled={!words.trim()}>
          Send
        </button>
      </form>
    </details>
  );
}

/** A line to write in. While it is `focused` it is written in from its end. */
function Reply({ label, words, focused, onWords }: { label: string; words: string; focused: boolean; onWords: (words: string) => void }): ReactElement {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (!focused || !input.current) return;
    input.current.focus();
    input.current.setSelectionRange(input.current.value.length, input.current.value.length);
  }, [focused]);
  return <input ref={input} className="reply" dir="auto" aria-label={label} placeholder={label} autoComplete="off" value={words} onChange={(event) => onWords(event.target.value)} />;
}

function Buttons({ children, no, onNo, disabled = false }: { children: ReactNode; no: string; onNo: (event: MouseEvent) => void; disabled?: boolean }): ReactElement {
  return (
    <div className="buttons">
      <button type="button" className="soft" disabled={disabled} onClick={onNo}>
        {no} <kbd>Esc</kbd>
      </button>
      {children}
    </div>
  );
}
