import type { ReactElement } from "react";
import type { A2AAgentCard } from "@assistant-ui/react-a2a";
import { AGENTS } from "../wire/extensions";
import { list, object, text } from "../wire/json";
import { name } from "../turn/visible";
import type { AgentHealth } from "./hooks";

interface Known {
  name: string;
  about: string;
  examples: string[];
  up: boolean;
}

/** The empty conversation: who is there, how they are, and what they may be asked. */
export function Welcome({ health, onAsk }: { health: AgentHealth; onAsk: (request: string) => void }): ReactElement {
  const { card } = health;
  const agents = card ? knownAgents(card, health.without) : [];
  return (
    <div className="welcome">
      <h2>What do you want to know?</h2>
      <p className="lead">{card ? name(firstSentence(card.description), 300) : health.detail || "Reaching the agent"}</p>
      {!card && !health.detail && <div className="skeleton" aria-hidden="true" />}
      <ul className="agents">
        {agents.map((agent) => (
          <li key={agent.name} className={agent.about ? "agent" : "agent whole"}>
            <p className="agent-name">
              {agent.about && <span className={`lamp ${agent.up ? "up" : "down"}`} aria-hidden="true" />}
              <bdi>{name(agent.name, 60)}</bdi>
              <small>{agent.up ? "" : "cannot be reached"}</small>
            </p>
            {agent.about && <p className="about">{name(agent.about, 240)}</p>}
            <ul className="examples">
              {agent.examples.map((example) => (
                <li key={example}>
                  <button type="button" className="example" disabled={!agent.up} onClick={() => onAsk(example)}>
                    {name(example, 200)}
                  </button>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The agents behind this one, where its card names them; else what it can do itself. */
function knownAgents(card: A2AAgentCard, without: readonly string[]): Known[] {
  const extension = list(object(card.capabilities)?.["extensions"]).map(object).find((each) => each?.["uri"] === AGENTS);
  const behind = list(object(extension?.["params"])?.["agents"]).flatMap((each) => {
    const agent = object(each);
    return agent ? [{ name: text(agent["name"]), about: text(agent["description"]), examples: list(agent["examples"]).map(String).slice(0, 3), up: !without.includes(text(agent["name"])) }] : [];
  });
  const own = card.skills.slice(0, 4).map((skill) => ({ name: skill.name || skill.id, about: skill.description, examples: (skill.examples ?? []).slice(0, 3), up: true }));
  const together = { name: "Several at once", about: "", examples: own.flatMap((each) => each.examples).slice(-1), up: true };
  return behind.length ? [...behind, together] : own;
}

function firstSentence(text: string): string {
  return text.split(/(?<=\.)\s/)[0] ?? text;
}
