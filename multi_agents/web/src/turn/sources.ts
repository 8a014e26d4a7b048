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

/**
 * The answer without its lines that name a source, and the sources.
 *
 * An agent of this project writes the line directly below what it quotes; what it quotes begins at the heading above.
 */
export function withSources(text: string): Sourced {
  const kept: string[] = [];
  const sources: Source[] = [];
  let passage: string[] = [];
  let fenced = false;
  for (const line of text.split("\n")) {
    if (/^\s{0,3}(```|~~~)/.test(line)) fenced = !fenced;
    const found = fenced ? null : SOURCE.exec(line);
    if (found) {
      sources.push({ title: found[1] ?? "", place: found[2] ?? "", passage: passage.join("\n").trim() });
      passage = [];
      continue;
    }
    if (!fenced && /^(#{1,6} |\*\*[^*]+\*\*$)/.test(line)) passage = [];
    else passage.push(line);
    kept.push(line);
  }
  return { text: kept.join("\n").replace(/\n{3,}/g, "\n\n"), sources };
}
