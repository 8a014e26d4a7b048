import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Session } from "./conversation/session";
import { Credentials } from "./wire/credentials";
import { finishLogin } from "./wire/login";
import { applyTheme } from "./view/theme";
import { Page } from "./view/Page";
import "./style/index.css";

applyTheme();
const place = document.getElementById("page");
if (place) void show(place);

async function show(where: HTMLElement): Promise<void> {
  const credentials = new Credentials();
  const problem = await finishLogin(credentials);
  await credentials.identify().catch(() => undefined); // it is asked again with what is read of a conversation, or after a login
  createRoot(where).render(
    <StrictMode>
      <Page session={new Session(credentials, problem)} />
    </StrictMode>,
  );
}
