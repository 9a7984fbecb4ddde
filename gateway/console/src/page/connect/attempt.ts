/** The attempt to connect that a provider leads back to. Of each provider the landing is the same page, so the browser keeps which it was
 * with the state, in the tab that began it. */

const KEY = "expops.connect";

export interface Attempt {
  provider: string;
  state: string;
  redirectUri: string;
}

export function rememberAttempt(provider: string, state: string, authUrl: string): void {
  const redirectUri = new URL(authUrl).searchParams.get("redirect_uri") ?? "";
  sessionStorage.setItem(KEY, JSON.stringify({ provider, state, redirectUri }));
}

function isAttempt(value: unknown): value is Attempt {
  return typeof value === "object" && value !== null && "provider" in value && "state" in value && "redirectUri" in value;
}

/** Take the attempt of a state; null: this tab began none. */
export function takeAttempt(state: string | null): Attempt | null {
  const kept = sessionStorage.getItem(KEY);
  const attempt: unknown = kept === null ? null : JSON.parse(kept);
  if (!isAttempt(attempt) || attempt.state !== state) return null;
  sessionStorage.removeItem(KEY);
  return attempt;
}
