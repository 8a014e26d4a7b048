import { agentUrl } from "./agent";
import type { Credentials } from "./credentials";
import { number, object, text } from "./json";
import { randomId } from "./proof";
import { nobodys, putBack } from "./tab";

/** Where people log in: what the agent's operator has set. */
export interface Provider {
  issuer: string;
  clientId: string;
  scope: string;
}

interface Begun {
  state: string;
  verifier: string;
  issuer: string;
  clientId: string;
  tokenEndpoint: string;
  /** What stood behind `#` in the address. */
  place: string;
  /** What was written before the agent asked for a login. */
  written: [name: string, value: string][];
}

interface Tokens {
  access: string;
  /** With which the next ones are got; empty where there are none. */
  refresh: string;
  /** When it is time for that, in milliseconds since 1970. */
  due: number;
}

const KEY = "login";
const BEFORE_END = 30;
/** Milliseconds after which the clock is looked at: timers stand still while a machine sleeps. */
const LOOK = 5_000;
/** Milliseconds after which a provider that was away is asked again. */
const ASK_AGAIN = 10_000;

/** A sentence for the reader. */
class LoginFailed extends Error {}

/** The provider, or "none" where people enter a key or a token; undefined where the agent did not say it. */
export async function readProvider(): Promise<Provider | "none" | undefined> {
  try {
    const answer = await fetch(`${agentUrl()}/page/login.json`);
    if (!answer.ok) return undefined;
    const told = object(await answer.json());
    const provider = { issuer: text(told?.["issuer"]), clientId: text(told?.["client_id"]), scope: text(told?.["scope"]) };
    return provider.issuer && provider.clientId ? provider : "none";
  } catch {
    return undefined;
  }
}

/**
 * Go to the provider: authorization code with PKCE (RFC 7636). The tab comes back with a code, which is worth nothing
 * without the verifier that stays here. Gives a sentence where it does not get that far.
 */
export async function beginLogin(provider: Provider): Promise<string> {
  try {
    const found = await endpoints(provider.issuer);
    const verifier = randomId() + randomId();
    const begun: Begun = { state: randomId(), verifier, issuer: provider.issuer, clientId: provider.clientId, tokenEndpoint: found.token, place: location.hash, written: nobodys() };
    const address = new URL(found.authorization);
    const asked = { response_type: "code", client_id: provider.clientId, redirect_uri: here(), scope: provider.scope, state: begun.state, code_challenge: await challenge(verifier), code_challenge_method: "S256" };
    for (const [name, value] of Object.entries(asked)) address.searchParams.set(name, value);
    sessionStorage.setItem(KEY, JSON.stringify(begun));
    location.assign(address);
    return "";
  } catch (error) {
    return sentenceOf(error);
  }
}

/** Take up a login where the tab comes back from the provider. Gives a sentence where it failed. */
export async function finishLogin(credentials: Credentials): Promise<string> {
  const answer = new URLSearchParams(location.search);
  if (!answer.has("state") || !(answer.has("code") || answer.has("error"))) return "";
  const begun = taken();
  history.replaceState(null, "", `${location.pathname}${begun?.place ?? location.hash}`);
  try {
    const issuer = answer.get("iss");
    if (!begun || answer.get("state") !== begun.state || (issuer && issuer !== begun.issuer)) throw new LoginFailed("This login was not begun in this tab. Log in again.");
    putBack(begun.written);
    if (answer.has("error")) throw new LoginFailed(answer.get("error") === "access_denied" ? "The provider says that the login was refused." : "The provider does not take this page, or what it asks for.");
    const tokens = await exchange(begun, { grant_type: "authorization_code", code: answer.get("code") ?? "", redirect_uri: here(), code_verifier: begun.verifier });
    credentials.useToken(tokens.access);
    void renew(credentials, begun, tokens);
    return "";
  } catch (error) {
    return sentenceOf(error);
  }
}

/** Get tokens. They are in this page's memory alone. */
async function exchange(at: Begun, asked: Record<string, string>): Promise<Tokens> {
  const answer = await fetch(at.tokenEndpoint, { method: "POST", credentials: "omit", redirect: "error", body: new URLSearchParams({ client_id: at.clientId, ...asked }) });
  if (answer.status >= 500 || answer.status === 429) throw new Error(`The provider answered ${answer.status}.`);
  const told = object(await answer.json().catch(() => undefined));
  const access = text(told?.["access_token"]);
  if (!answer.ok || !access) throw new LoginFailed("The provider gave no token. Log in again.");
  const refresh = text(told?.["refresh_token"]) || (asked["refresh_token"] ?? "");
  const lasts = number(told?.["expires_in"]) ?? 0;
  return { access, refresh: lasts ? refresh : "", due: Date.now() + 1000 * Math.max(lasts / 2, lasts - BEFORE_END) };
}

/**
 * Renew a token once it is time, as long as it is the one in use: after it has ended somebody else may have entered a key.
 * A provider that is away is asked again; where it says no the token ends, and the page asks who this is.
 */
async function renew(credentials: Credentials, at: Begun, first: Tokens): Promise<void> {
  for (let { access, refresh, due } = first; refresh; ) {
    const left = due - Date.now();
    if (left > 0) await new Promise((done) => setTimeout(done, Math.min(left, LOOK)));
    if (!credentials.uses(access)) return;
    if (left > 0) continue;
    try {
      const next = await exchange(at, { grant_type: "refresh_token", refresh_token: refresh });
      if (!credentials.uses(access)) return;
      ({ access, refresh, due } = next);
      credentials.useToken(access);
      credentials.onRenewed();
    } catch (error) {
      if (error instanceof LoginFailed) return;
      due = Date.now() + ASK_AGAIN;
    }
  }
}

/** The page's policy lets it reach the provider's own origin and no other. */
async function endpoints(issuer: string): Promise<{ authorization: string; token: string }> {
  const told = object(await (await fetch(`${issuer.replace(/\/+$/, "")}/.well-known/openid-configuration`, { credentials: "omit", redirect: "error" })).json());
  const found = { authorization: text(told?.["authorization_endpoint"]), token: text(told?.["token_endpoint"]) };
  const origin = new URL(issuer).origin;
  if (told?.["issuer"] !== issuer || ![found.authorization, found.token].every((each) => each && new URL(each).origin === origin)) throw new LoginFailed("The provider does not describe itself as it should, or not at its own address. Enter a token instead.");
  return found;
}

async function challenge(verifier: string): Promise<string> {
  const subtle = crypto.subtle as SubtleCrypto | undefined;
  if (!subtle) throw new LoginFailed("Browsers let you log in over HTTPS only. Open the page there, or enter a token.");
  const digest = new Uint8Array(await subtle.digest("SHA-256", new TextEncoder().encode(verifier)));
  return btoa(String.fromCharCode(...digest)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** What was begun, once. */
function taken(): Begun | undefined {
  try {
    const kept = sessionStorage.getItem(KEY);
    sessionStorage.removeItem(KEY);
    return kept ? (JSON.parse(kept) as Begun) : undefined;
  } catch {
    return undefined;
  }
}

function here(): string {
  return `${location.origin}${location.pathname}`;
}

function sentenceOf(error: unknown): string {
  return error instanceof LoginFailed ? error.message : "The provider where you log in cannot be reached.";
}
