import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Session } from "./conversation/session";
import { Credentials } from "./wire/credentials";
import { finishLogin } from "./wire/login";
import { keepsAnything } from "./wire/tab";
import { applyTheme } from "./view/theme";
import { Page } from "./view/Page";
import { Waiting } from "./view/Waiting";
import "./style/index.css";

/** Milliseconds after which a reader is shown that the page waits, or a new page: before that it would only flicker. */
const SOON = 300;

applyTheme();
const place = document.getElementById("page");
if (place) void show(place);

async function show(where: HTMLElement): Promise<void> {
  const root = createRoot(where);
  const waiting = setTimeout(() => root.render(<Waiting />), SOON);
  const credentials = new Credentials();
  const problem = await finishLogin(credentials);
  // Whose the page is decides what a tab that keeps something shows and sends; a new one shows its input soon.
  const waits = keepsAnything();
  const tell = (error: unknown): void => {
    clearTimeout(waiting);
    root.render(<Waiting error={error} />);
  };
  if (!waits) clearTimeout(waiting);
  const identified = credentials.identifyAtLast(waits ? tell : undefined);
  const locked = await (waits ? identified : Promise.race([identified, soon()]));
  clearTimeout(waiting);
  root.render(
    <StrictMode>
      <Page session={new Session(credentials, problem, locked)} />
    </StrictMode>,
  );
}

function soon(): Promise<false> {
  return new Promise((done) => setTimeout(() => done(false), SOON));
}
