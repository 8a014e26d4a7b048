import { A2AClient, A2AError } from "@assistant-ui/react-a2a";
import type { Credentials } from "./credentials";
import { object, text, type Json } from "./json";

/** Where the agent is: the page's own address, without what the page wrote behind it. */
export function agentUrl(): string {
  return `${location.origin}${location.pathname}`.replace(/\/+$/, "");
}

/** An agent redirects nobody: whoever does stands between it and the page, as a portal that asks for a login. It is not followed, and is seen. */
export const NO_REDIRECT = { redirect: "manual" } as const;

/** The A2A client of the agent that served this page. */
export function connect(credentials: Credentials): A2AClient {
  return new A2AClient({ baseUrl: agentUrl(), basePath: "/rest", headers: () => credentials.headers(), fetchOptions: NO_REDIRECT });
}

/** "portal": what stands in front of the agent wants a login there. */
export type Refusal = "unauthenticated" | "portal" | "busy" | "refused" | "unreachable";

const REDIRECTED = 0;
/** The names of google.rpc.Code. An error of an agent has one as its status; in another answer that is the HTTP status in words. */
const OF_AN_AGENT: ReadonlySet<string> = new Set(
  "CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED UNAUTHENTICATED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS".split(" "),
);

/** Why a request was not answered. It is worth another try by itself unless the agent said no or does not know who asks. */
export function refusal(error: unknown): Refusal {
  if (!(error instanceof A2AError)) return "unreachable";
  if (error.code === REDIRECTED) return "portal";
  if (error.code === 401 || error.status === "UNAUTHENTICATED") return "unauthenticated";
  if (error.code === 503 || error.code === 429 || error.status === "UNAVAILABLE") return "busy";
  return error.code >= 502 && error.code <= 504 ? "unreachable" : "refused";
}

/** The error of an answer that the agent, or somebody in front of it, gave in place of what was asked for. */
export function refusedWith(answer: Response, told: Json | undefined): A2AError {
  const error = object(told?.["error"]);
  return new A2AError({
    code: answer.status,
    status: text(error?.["status"], answer.statusText),
    message: text(error?.["message"]),
  });
}

export function sentence(error: unknown): string {
  if (!(error instanceof A2AError)) return "The agent cannot be reached.";
  if (error.code === REDIRECTED) return "Your login in front of the agent has ended.";
  if (OF_AN_AGENT.has(error.status)) return error.message;
  const told = [error.code, error.status].filter(Boolean).join(" ");
  return `This was refused between the page and the agent, for example by a proxy: ${told}.`;
}
