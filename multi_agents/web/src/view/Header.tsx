import { useState, type ReactElement } from "react";
import type { AgentHealth } from "./hooks";
import { Icon } from "./Icon";
import { nextTheme, theme } from "./theme";

interface Head {
  title: string;
  health: AgentHealth;
  menu: boolean;
  onMenu: () => void;
  onExport: (() => void) | undefined;
  onDrawer: () => void;
}

export function Header({ title, health, menu, onMenu, onExport, onDrawer }: Head): ReactElement {
  const [chosen, setChosen] = useState(theme);
  return (
    <header className="header">
      <button type="button" className="quiet menu" aria-label="Conversations" aria-expanded={menu} aria-controls="conversations" onClick={onMenu}>
        <Icon name="menu" />
      </button>
      <h1 className="title" dir="auto">
        {title || "New conversation"}
      </h1>
      <Lamp health={health} />
      {onExport && (
        <button type="button" className="quiet" aria-label="Save as HTML" title="Save as HTML" onClick={onExport}>
          <Icon name="save" />
        </button>
      )}
      <button type="button" className="quiet" aria-label="Card, events and rules" title="Card, events and rules" onClick={onDrawer}>
        <Icon name="code" />
      </button>
      <button type="button" className="quiet" aria-label={`Theme: ${chosen}`} title={`Theme: ${chosen}`} onClick={() => setChosen(nextTheme())}>
        <Icon name="theme" />
      </button>
    </header>
  );
}

function Lamp({ health }: { health: AgentHealth }): ReactElement {
  const known = health.latency !== undefined;
  const state = !known && !health.detail ? "unknown" : known && health.ready && !health.without.length ? "up" : known ? "partly" : "down";
  const words = state === "unknown" ? "reaching" : known ? health.detail || `${health.latency} ms` : "offline";
  return (
    <span className="health" title={health.detail || "The agent is ready"}>
      <span className={`lamp ${state}`} aria-hidden="true" />
      <span className="words">{words}</span>
    </span>
  );
}
