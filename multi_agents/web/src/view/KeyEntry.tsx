import { useEffect, useState, type ReactElement } from "react";
import { beginLogin, readProvider, type Provider } from "../wire/login";

/** The agent wants to know who asks. A key or a token stays in this page's memory, and is gone with a reload. */
export function KeyEntry({ problem, onKey }: { problem: string; onKey: (key: string) => void }): ReactElement | null {
  const [provider, setProvider] = useState<Provider | "none">();
  const [failed, setFailed] = useState(problem);
  useEffect(() => {
    void readProvider().then((found) => setProvider(found ?? "none"));
  }, []);
  if (!provider) return null;
  if (provider === "none") return <Entry onKey={onKey} />;
  return (
    <div className="key-entry">
      <h2>Who are you?</h2>
      <p className="lead">This agent answers those it knows. You stay logged in until this page is closed or loaded again.</p>
      {failed && (
        <p className="problem" role="alert">
          {failed}
        </p>
      )}
      <button type="button" className="strong" autoFocus onClick={() => void beginLogin(provider).then(setFailed)}>
        Log in
      </button>
      <details className="other-words">
        <summary>Enter a token instead</summary>
        <Entry onKey={onKey} bare />
      </details>
    </div>
  );
}

function Entry({ onKey, bare = false }: { onKey: (key: string) => void; bare?: boolean }): ReactElement {
  const [key, setKey] = useState("");
  return (
    <form
      className={bare ? "" : "key-entry"}
      onSubmit={(event) => {
        event.preventDefault();
        if (key.trim()) onKey(key.trim());
      }}
    >
      {!bare && (
        <>
          <h2>Who are you?</h2>
          <p className="lead">This agent answers those it knows. Enter your key or access token; it is kept until this page is closed or loaded again.</p>
          <label htmlFor="key">Key or access token</label>
        </>
      )}
      <input id="key" aria-label="Key or access token" type="password" autoComplete="off" autoFocus={!bare} value={key} onChange={(event) => setKey(event.target.value)} />
      <button type="submit" className={bare ? "soft" : "strong"} disabled={!key.trim()}>
        Continue
      </button>
    </form>
  );
}
