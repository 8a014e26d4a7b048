import { A2AClient, A2AError } from "@assistant-ui/react-a2a";
import type { Credentials } from "./credentials";

/** Where the agent is: the page's own address, without what the page wrote behind it. */
export function agentUrl(): string {
  return `${location.origin}${location.pathname}`.replace(/\/+$/, "");
}

/** An agent redirects nobody: whoever does stands between it and the page, as a portal that asks for a login. It is not followed. */
export const NO_REDIRECT = { redirect: "error" } as const;

/** The A2A client of the agent that served this page. */
export function connect(credentials: Credentials): A2AClient {
  return new A2AClient({ baseUrl: agentUrl(), basePath: "/rest", headers: () => credentials.headers(), fetchOptions: NO_REDIRECT });
}

export type Refusal = "unauthenticated" | "busy" | "refused" | "unreachable";

/** Why a request was not answered. Only the last kind is worth another try by itself, and a busy agent's. */
export function refusal(error: unknown): Refusal {
  if (!(error instanceof A2AError)) return "unreachable";
  if (error.code === 401 || error.status === "UNAUTHENTICATED") return "unauthenticated";
  if (error.code === 503 || error.code === 429 || error.status === "UNAVAILABLE") return "busy";
  return error.code >= 502 && error.code <= 504 ? "unreachable" : "refused";
}

export function sentence(error: unknown): string {
  return error instanceof A2AError ? error.message : "The agent cannot be reached.";
}
