import type { AppendMessage, AttachmentAdapter } from "@assistant-ui/react";
import type { A2AAgentCard, A2APart } from "@assistant-ui/react-a2a";
import { randomId } from "../wire/proof";

/** The most that one message carries: the agent's own limit for a request is 4 MiB, and base64 makes four bytes of three. */
export const LARGEST_FILE = 2_900_000;

/** Files that are dropped, pasted or chosen, until they are sent. `modes`: the media types that the agent takes, any where it names none. */
export function attachmentsFor(modes: readonly string[]): AttachmentAdapter {
  return {
    accept: "*",
    async add({ file }) {
      const why = refusalOf(file, modes);
      if (why) throw new Error(why);
      return { id: randomId(), type: "file", name: file.name, contentType: typeOf(file, modes), file, status: { type: "requires-action", reason: "composer-send" } };
    },
    async remove() {
      // Nothing was kept of it.
    },
    async send(attachment) {
      const data = await base64(attachment.file);
      return { ...attachment, status: { type: "complete" }, content: [{ type: "file", data, mimeType: typeOf(attachment.file, modes), filename: attachment.name }] };
    },
  };
}

/** Why a file cannot be sent to an agent that takes these media types; empty where it can. */
export function refusalOf(file: File, modes: readonly string[]): string {
  const type = typeOf(file, modes);
  if (file.size > LARGEST_FILE) return `${file.name} is too large: a message takes up to 2.9 MB.`;
  return takes(modes, type) ? "" : `This agent does not take ${file.name} (${type}). It takes ${modes.join(", ")}.`;
}

/** The media types that an agent takes, for its skills too; none where it does not say, or its card was not read. */
export function modesOf(card: A2AAgentCard | undefined): readonly string[] {
  return [...(card?.defaultInputModes ?? []), ...(card?.skills ?? []).flatMap((skill) => skill.inputModes ?? [])];
}

/** What was written and attached, as the parts of a message. */
export function partsOf(message: AppendMessage): A2APart[] {
  const words = message.content.flatMap((part) => (part.type === "text" && part.text.trim() ? [{ text: part.text }] : []));
  const files = (message.attachments ?? []).flatMap((attachment) =>
    attachment.content.flatMap((part) => (part.type === "file" ? [{ raw: part.data, filename: part.filename ?? attachment.name, mediaType: part.mimeType }] : [])),
  );
  return [...words, ...files];
}

const TEXT = /\.(txt|log|csv|tsv|ya?ml|toml|ini|cfg|conf|env|xml|html?|css|rst|adoc|diff|patch|sql|tf|hcl|proto|sh|bash|ps1|py|rb|php|pl|lua|r|js|jsx|ts|tsx|go|rs|java|kt|scala|swift|c|h|cc|cpp|hpp|cs)$|^(Dockerfile|Makefile|Jenkinsfile)$/i;

/**
 * The media type of a file. What is text to an agent is plain text, whatever browsers call it: `video/mp2t` for TypeScript, nothing for YAML.
 * So it is too for an agent that names no types, and while its card was not read.
 */
function typeOf(file: File, modes: readonly string[]): string {
  const own = /\.(md|markdown)$/i.test(file.name) ? "text/markdown" : /\.json$/i.test(file.name) ? "application/json" : "";
  if (own) return names(modes, own) ? own : "text/plain";
  if (file.type.startsWith("text/") && names(modes, file.type)) return file.type;
  if (TEXT.test(file.name) || file.type.startsWith("text/")) return "text/plain";
  return file.type || "application/octet-stream";
}

function names(modes: readonly string[], type: string): boolean {
  return modes.length > 0 && takes(modes, type);
}

function takes(modes: readonly string[], type: string): boolean {
  const family = type.split("/")[0] ?? "";
  return !modes.length || modes.some((mode) => ["*/*", `${family}/*`, type, family === "text" ? "text" : ""].includes(mode.split(";")[0]?.trim().toLowerCase() ?? ""));
}

function base64(file: File): Promise<string> {
  return new Promise((done, refuse) => {
    const reader = new FileReader();
    reader.onerror = () => refuse(reader.error ?? new Error("The file cannot be read."));
    reader.onload = () => done(String(reader.result).split(",", 2)[1] ?? "");
    reader.readAsDataURL(file);
  });
}
