import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Session } from "./conversation/session";
import { applyTheme } from "./view/theme";
import { Page } from "./view/Page";
import "./style/index.css";

applyTheme();
const place = document.getElementById("page");
if (place) {
  createRoot(place).render(
    <StrictMode>
      <Page session={new Session()} />
    </StrictMode>,
  );
}
