export interface Source {
  title: string;
  /** A path of a document, or an address. */
  place: string;
  /** What the answer quotes of it. */
  passage: string;
}

export interface Sourced {
  text: string;
  sources: Source[];
}

const SOURCE = /^(?:Source|Quelle): (?:(.{1,300}?) — )?(\S{1,500})\s*$/;
const HEADED = /^\*\*([^*]{1,300})\*\* — (\S{1,500})\s*$/;
const HEADING = /^(#{1,6} |\*\*[^*]+\*\*$|See also:$)/;

/**
 * The answer without the places of its sources, and the sources.
 *
 * An agent of this project names the place behind the heading of what it quotes, or on a line directly below it.
 */
export function withSources(text: string): Sourced {
  const kept: string[] = [];
  const sources: Source[] = [];
  let passage: string[] = [];
  let headed: Source | null = null;
  let fenced = false;
  const begin = (source: Source | null): void => {
    if (headed) headed.passage = passage.join("\n").trim();
    headed = source;
    passage = [];
  };
  for (const line of text.split("\n")) {
    if (/^\s{0,3}(```|~~~)/.test(line)) fenced = !fenced;
    const heading = fenced ? null : HEADED.exec(line);
    const found = fenced ? null : SOURCE.exec(line);
    if (heading) {
      const source = { title: heading[1] ?? "", place: heading[2] ?? "", passage: "" };
      sources.push(source);
      begin(source);
      kept.push(`**${source.title}**`);
      continue;
    }
    if (found) {
      const quoted = passage.join("\n").trim();
      begin(null);
      sources.push({ title: found[1] ?? "", place: found[2] ?? "", passage: quoted });
      continue;
    }
    if (!fenced && HEADING.test(line)) begin(null);
    else passage.push(line);
    kept.push(line);
  }
  begin(null);
  return { text: kept.join("\n").replace(/\n{3,}/g, "\n\n"), sources };
}
