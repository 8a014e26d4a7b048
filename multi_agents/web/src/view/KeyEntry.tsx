import { useState, type ReactElement } from "react";

/** The agent wants to know who asks. The key stays in this page's memory, and is gone with a reload. */
export function KeyEntry({ onKey }: { onKey: (key: string) => void }): ReactElement {
  const [key, setKey] = useState("");
  return (
    <form
      className="key-entry"
      onSubmit={(event) => {
        event.preventDefault();
        if (key.trim()) onKey(key.trim());
      }}
    >
      <h2>Who are you?</h2>
      <p className="lead">This agent answers those it knows. Enter your key or access token; it is kept until this page is closed or loaded again.</p>
      <label htmlFor="key">Key or access token</label>
      <input id="key" type="password" autoComplete="off" autoFocus value={key} onChange={(event) => setKey(event.target.value)} />
      <button type="submit" className="strong" disabled={!key.trim()}>
        Continue
      </button>
    </form>
  );
}
