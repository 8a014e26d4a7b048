import { useEffect, useRef, useState, type ReactElement } from "react";
import { agentUrl } from "../wire/agent";
import { beginLogin, readProvider, type Provider } from "../wire/login";

interface Knocking {
  /** Why a login that has just ended failed; empty where none did. */
  problem: string;
  /** Whether the agent took a key or a login until now. */
  ended: boolean;
  /** Whether the agent itself lets everybody in: what stands in front of it wants the login. */
  elsewhere: boolean;
  /** Gives a sentence where the agent does not take the key. */
  onKey: (key: string) => Promise<string>;
}

/** Milliseconds until the agent is asked again where people log in. */
const LOOK_AGAIN = 2_000;
const KEPT = "What you wrote is kept.";

/** The agent wants to know who asks. A key or a token stays in this page's memory, and is gone with a reload. */
export function KeyEntry({ problem, ended, elsewhere, onKey }: Knocking): ReactElement | null {
  const provider = useProvider();
  const [failed, setFailed] = useState(problem);
  const [over] = useState(ended);
  if (!provider) return null;
  const why = provider === "none" ? `The agent no longer accepts your key: it has expired or was revoked. Enter another one. ${KEPT}` : `Your login has ended. Log in again. ${KEPT}`;
  const told = failed || (over ? why : "");
  const enter = (key: string): Promise<void> => onKey(key).then(setFailed);
  return (
    <div className="key-entry">
      <h2>Log in</h2>
      <Lead by={provider !== "none" ? "provider" : elsewhere ? "elsewhere" : "key"} />
      {told && (
        <p className="problem" role="alert">
          {told}
        </p>
      )}
      {provider === "none" ? (
        <Entry onKey={enter} />
      ) : (
        <>
          <button type="button" className="strong" autoFocus onClick={() => void beginLogin(provider).then(setFailed)}>
            Log in
          </button>
          <details className="other-words">
            <summary>Enter a token instead</summary>
            <Entry onKey={enter} bare />
          </details>
        </>
      )}
    </div>
  );
}

/** Where people log in; undefined until it is known. Where the agent does not say it, a key is asked for until it does. */
function useProvider(): Provider | "none" | undefined {
  const [provider, setProvider] = useState<Provider | "none">();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let gone = false;
    const look = async (): Promise<void> => {
      const found = await readProvider();
      if (gone) return;
      setProvider(found ?? "none");
      if (!found) timer = setTimeout(() => void look(), LOOK_AGAIN);
    };
    void look();
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, []);
  return provider;
}

/** What is asked for, and of whom. A login in front of the agent is done in another tab: this one keeps what was written, and goes on after it. */
function Lead({ by }: { by: "key" | "provider" | "elsewhere" }): ReactElement {
  if (by === "provider") return <p className="lead">This agent needs you to log in. You stay logged in until you close or reload this page.</p>;
  if (by === "key") return <p className="lead">This agent needs an API key or access token. The page keeps it until you close or reload it.</p>;
  return (
    <>
      <p className="lead">
        The agent lets everybody in: a proxy in front of it seems to want a login. Log in there in a new tab, and this page goes on by itself. {KEPT} Where the
        proxy takes a key or an access token, enter it here.
      </p>
      <a href={`${agentUrl()}/`} target="_blank" rel="noreferrer">
        Log in in a new tab
      </a>
    </>
  );
}

function Entry({ onKey, bare = false }: { onKey: (key: string) => Promise<void>; bare?: boolean }): ReactElement {
  const [key, setKey] = useState("");
  const input = useRef<HTMLInputElement>(null);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!key.trim()) return;
        setKey("");
        input.current?.focus();
        void onKey(key.trim());
      }}
    >
      {!bare && <label htmlFor="key">Key or access token</label>}
      <input ref={input} id="key" aria-label="Key or access token" type="password" autoComplete="off" autoFocus={!bare} value={key} onChange={(event) => setKey(event.target.value)} />
      <button type="submit" className={bare ? "soft" : "strong"} disabled={!key.trim()}>
        Continue
      </button>
    </form>
  );
}
