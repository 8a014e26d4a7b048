import { useEffect, useState, type ReactElement } from "react";
import { agentUrl } from "../wire/agent";
import { keptRules, RULES, type Seen, type Verdict } from "../wire/rules";
import { name } from "../turn/visible";
import { CopyButton } from "./CopyButton";

/** Which rules of the protocol the agent keeps, as far as a page can see. */
export function Rules({ seen }: { seen: Seen }): ReactElement {
  const [verdicts, setVerdicts] = useState<readonly Verdict[]>([]);
  const [{ credentials, events }] = useState(seen);
  useEffect(() => {
    let gone = false;
    const look = async (): Promise<void> => {
      setVerdicts([]);
      for await (const verdict of keptRules({ credentials, events })) {
        if (gone) return;
        setVerdicts((before) => [...before, verdict]);
      }
    };
    void look();
    return () => {
      gone = true;
    };
  }, [credentials, events]);
  const command = `platform-engineer conformance ${agentUrl()}`;
  const done = verdicts.length === RULES.length;
  return (
    <>
      <p className="hint" role="status">
        {done ? summary(verdicts) : "Looking at the rules"}
      </p>
      <div className="scrolling" tabIndex={0} role="region" aria-label="Rules of the protocol">
        <table className="rules">
          <thead>
            <tr>
              <th scope="col">Outcome</th>
              <th scope="col">Rule</th>
              <th scope="col">Section</th>
            </tr>
          </thead>
          <tbody>
            {verdicts.map(({ rule, outcome, reason }) => (
              <tr key={rule.name} className={outcome}>
                <td>{outcome}</td>
                <td>
                  {rule.name}
                  {reason && <small>{name(reason, 200)}</small>}
                </td>
                <td>{rule.section}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="hint">
        Sections are those of A2A 1.0. These are the rules that can be seen without asking the agent anything. The command tests all of them, with some eight messages:
      </p>
      <figure className="code">
        <figcaption>
          <span>shell</span>
          <CopyButton text={command} what="command" />
        </figcaption>
        <pre tabIndex={0}>{command}</pre>
      </figure>
    </>
  );
}

function summary(verdicts: readonly Verdict[]): string {
  const count = (outcome: Verdict["outcome"]): number => verdicts.filter((each) => each.outcome === outcome).length;
  return `${count("pass")} pass, ${count("fail")} fail, ${count("skipped")} skipped`;
}
