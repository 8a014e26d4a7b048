import type { A2AMessage, A2AStreamEvent } from "@assistant-ui/react-a2a";
import { QUESTION } from "./extensions";
import { object, text } from "./json";
import { keep, kept } from "./tab";

/**
 * Shows an agent that an answer comes from the one who was asked: docs/a2a.md, "How do I answer a question that asks for
 * approval?".
 *
 * The digest of a secret goes with the message that begins a task, and the secret with the answer. Where the browser makes
 * no digests, as over plain HTTP, the nonce that comes with the question is the proof. Both are kept for this tab, so that
 * a reload loses neither, and no other page has them.
 */
const SECRET = "proof";
const NONCE = "nonce:";
const LENGTH = 32;

/** An id that nobody guesses; `crypto.randomUUID` is there over HTTPS and on this machine alone. */
export function randomId(): string {
  return hex(crypto.getRandomValues(new Uint8Array(LENGTH / 2)));
}

/** The message with what proves whose it is. */
export async function proven(message: A2AMessage): Promise<A2AMessage> {
  const proof = message.taskId ? { nonce: kept(`${NONCE}${message.taskId}`) || secret() } : await digest();
  const named = object(message.metadata?.[QUESTION]);
  return proof ? { ...message, metadata: { ...message.metadata, [QUESTION]: { ...named, ...proof } } } : message;
}

/** An answer that names the question that was read. */
export function naming(message: A2AMessage, question: string): A2AMessage {
  return question ? { ...message, metadata: { ...message.metadata, [QUESTION]: { answers: question } } } : message;
}

/** Keep the nonce of a question. */
export function keepNonce(event: A2AStreamEvent): void {
  const status = event.type === "task" ? event.task.status : event.type === "statusUpdate" ? event.event.status : undefined;
  const nonce = text(object(status?.message?.metadata?.[QUESTION])?.["nonce"]);
  const taskId = event.type === "task" ? event.task.id : event.type === "statusUpdate" ? event.event.taskId : "";
  if (nonce && taskId) keep(`${NONCE}${taskId}`, nonce);
}

async function digest(): Promise<{ nonce_sha256: string } | undefined> {
  const subtle = crypto.subtle as SubtleCrypto | undefined;
  if (!subtle) return undefined;
  const bytes = await subtle.digest("SHA-256", new TextEncoder().encode(secret()));
  return { nonce_sha256: hex(new Uint8Array(bytes)) };
}

function secret(): string {
  const known = kept(SECRET);
  if (known) return known;
  const made = hex(crypto.getRandomValues(new Uint8Array(LENGTH)));
  keep(SECRET, made);
  return made;
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
