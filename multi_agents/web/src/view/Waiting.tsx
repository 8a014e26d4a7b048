import type { ReactElement } from "react";
import { agentUrl, refusal, sentence } from "../wire/agent";

/** The page's frame while it is not known whose page it is: what a tab keeps is shown to the one who wrote it. With why the agent did not say it. */
export function Waiting({ error }: { error?: unknown }): ReactElement {
  return (
    <div className="page">
      <nav className="sidebar" aria-label="Conversations" />
      <div className="middle">
        <header className="header">
          <h1 className="title">Platform engineer</h1>
        </header>
        <main className="thread">
          <div className="column">
            <p className={error ? "line lost" : "line"} role="status">
              {error ? sentence(error) : "Asking the agent who you are."} What you wrote in this tab is kept, and is shown as soon as the agent answers.{" "}
              {error !== undefined && refusal(error) === "portal" && (
                <a href={`${agentUrl()}/`} target="_blank" rel="noreferrer">
                  Log in in a new tab
                </a>
              )}
            </p>
          </div>
        </main>
      </div>
    </div>
  );
}
