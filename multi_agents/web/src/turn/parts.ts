import type { A2AArtifact, A2APart } from "@assistant-ui/react-a2a";
import { ARTIFACT } from "../wire/extensions";
import { object, text } from "../wire/json";
import { fileName, visible } from "./visible";

export interface FileShown {
  name: string;
  mediaType: string;
  /** Its content in base64, or its address. */
  content?: string | undefined;
  url?: string | undefined;
  bytes: number;
  origin: string;
}

/** The words of a message or an artifact; data is shown as JSON. */
export function partsText(parts: readonly A2APart[]): string {
  return parts
    .map((part) => (part.text !== undefined ? part.text : part.data !== undefined ? `\`\`\`json\n${JSON.stringify(part.data, null, 2)}\n\`\`\`` : ""))
    .filter(Boolean)
    .join("\n\n");
}

export function partsFiles(parts: readonly A2APart[], origin = ""): FileShown[] {
  return parts.flatMap((part) => {
    if (part.raw === undefined && !part.url) return [];
    const name = fileName(part.filename || part.url || "");
    return [{ name, mediaType: part.mediaType ?? "", content: part.raw, url: part.url, bytes: decodedLength(part.raw ?? ""), origin }];
  });
}

/** How many bytes a text in base64 stands for; "=" at its end stands for none. */
function decodedLength(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.floor(((base64.length - padding) * 3) / 4);
}

export function artifactFiles(artifacts: Iterable<A2AArtifact>): FileShown[] {
  return [...artifacts].flatMap((artifact) =>
    partsFiles(artifact.parts, text(object(artifact.metadata?.[ARTIFACT])?.["origin"])),
  );
}

/** What a user's data part says, in words: the answer to a form. */
export function answerText(parts: readonly A2APart[]): string {
  return parts
    .flatMap((part) => {
      if (part.text !== undefined) return [part.text];
      const values = object(part.data);
      return values ? [wordsOf(values)] : [];
    })
    .filter(Boolean)
    .join("\n\n");
}

function wordsOf(values: Record<string, unknown>): string {
  if (typeof values["approve"] === "boolean") return values["approve"] ? "Approved" : "Not approved";
  return Object.entries(values)
    .map(([name, value]) => `${visible(name)}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("\n");
}
