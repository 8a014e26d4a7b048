import { useId, useState, type ReactElement } from "react";
import { name } from "../turn/visible";
import type { Source } from "../turn/sources";
import { CopyButton } from "./CopyButton";
import { Icon } from "./Icon";
import { Markdown } from "./Markdown";

/** Where an answer comes from: each opens what it was taken from. */
export function Sources({ sources }: { sources: readonly Source[] }): ReactElement | null {
  const [open, setOpen] = useState(-1);
  const id = useId();
  const shown = sources[open];
  if (!sources.length) return null;
  return (
    <section className="sources" aria-label="Sources">
      <ul>
        {sources.map((source, index) => (
          <li key={index}>
            <button type="button" className="chip" aria-expanded={open === index} aria-controls={id} onClick={() => setOpen(open === index ? -1 : index)}>
              <span className="number">{index + 1}</span>
              <span>{name(source.title || source.place, 70)}</span>
            </button>
          </li>
        ))}
      </ul>
      <div id={id} className="passage" hidden={!shown}>
        {shown && (
          <>
            <p className="place">
              <Icon name="source" />
              <Place place={shown.place} />
              <CopyButton text={shown.place} what="the source's place" />
            </p>
            {shown.passage && <Markdown text={shown.passage} />}
          </>
        )}
      </div>
    </section>
  );
}

function Place({ place }: { place: string }): ReactElement {
  if (!/^https?:\/\//i.test(place)) return <span>{name(place, 300)}</span>;
  return (
    <a href={place} target="_blank" rel="noopener noreferrer nofollow">
      {name(place, 300)}
    </a>
  );
}
