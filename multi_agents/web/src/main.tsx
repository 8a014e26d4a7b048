import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Session } from "./conversation/session";
import { Credentials } from "./wire/credentials";
import { finishLogin } from "./wire/login";
import { keepsAnything } from "./wire/tab";
import { applyTheme } from "./view/theme";
import { Page } from "./view/Page";
import "./style/index.css";

applyTheme();
const place = document.getElementById("page");
if (place) void show(place);

async function show(where: HTMLElement): Promise<void> {
  const credentials = new Credentials();
  const problem = await finishLogin(credentials);
  const identified = credentials.identify().catch(() => undefined); // it is asked again with what is read of a conversation, or after a login
  if (keepsAnything()) await identified; // whose it is decides what is shown; a new tab shows its input at once
  createRoot(where).render(
    <StrictMode>
      <Page session={new Session(credentials, problem)} />
    </StrictMode>,
  );
}
