import type { AppendMessage, AttachmentAdapter } from "@assistant-ui/react";
import type { A2APart } from "@assistant-ui/react-a2a";
import { randomId } from "../wire/proof";

/** The most that one message carries: the agent's own limit for a request is 4 MiB, and base64 makes four bytes of three. */
export const LARGEST_FILE = 2_900_000;

/** Files that are dropped, pasted or chosen, until they are sent. */
export const attachments: AttachmentAdapter = {
  accept: "*",
  async add({ file }) {
    if (file.size > LARGEST_FILE) throw new Error(`${file.name} is too large: a message takes up to 2.9 MB.`);
    return { id: randomId(), type: "file", name: file.name, contentType: file.type, file, status: { type: "requires-action", reason: "composer-send" } };
  },
  async remove() {
    // Nothing was kept of it.
  },
  async send(attachment) {
    const data = await base64(attachment.file);
    const mimeType = attachment.file.type || typeByName(attachment.name);
    return { ...attachment, status: { type: "complete" }, content: [{ type: "file", data, mimeType, filename: attachment.name }] };
  },
};

/** What was written and attached, as the parts of a message. */
export function partsOf(message: AppendMessage): A2APart[] {
  const words = message.content.flatMap((part) => (part.type === "text" && part.text.trim() ? [{ text: part.text }] : []));
  const files = (message.attachments ?? []).flatMap((attachment) =>
    attachment.content.flatMap((part) => (part.type === "file" ? [{ raw: part.data, filename: part.filename ?? attachment.name, mediaType: part.mimeType }] : [])),
  );
  return [...words, ...files];
}

/** Browsers know no type for these. */
function typeByName(name: string): string {
  if (/\.(md|markdown)$/i.test(name)) return "text/markdown";
  if (/\.(json)$/i.test(name)) return "application/json";
  return /\.(txt|log|ya?ml|toml|ini|conf|py|ts|sh|tf)$/i.test(name) ? "text/plain" : "application/octet-stream";
}

function base64(file: File): Promise<string> {
  return new Promise((done, refuse) => {
    const reader = new FileReader();
    reader.onerror = () => refuse(reader.error ?? new Error("The file cannot be read."));
    reader.onload = () => done(String(reader.result).split(",", 2)[1] ?? "");
    reader.readAsDataURL(file);
  });
}
