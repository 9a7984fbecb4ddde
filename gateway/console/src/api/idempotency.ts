/** Requests whose outcome is not known: the same one, sent again, has no second effect.
 *
 * A POST has an Idempotency-Key. It keeps that when its answer was lost or says no more than that, and the same request of the next ten
 * minutes has it again: the service then answers with what the first one did. A person who presses the button again wants this, and one
 * who wants the same once more sees the first before. */
interface Uncertain {
  key: string;
  until: number;
}

const KEPT_MS = 10 * 60_000;
const KEY_BYTES = 16;
const UNCERTAIN_STATUSES: readonly number[] = [502, 503, 504];

const uncertain = new Map<string, Uncertain>();

function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(KEY_BYTES)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function isInProgress(response: Response): Promise<boolean> {
  if (response.status !== 409) return false;
  const problem: unknown = await response
    .clone()
    .json()
    .catch(() => null);
  return typeof problem === "object" && problem !== null && "error" in problem && problem.error === "request_in_progress";
}

function earlier(name: string): Uncertain | undefined {
  const found = uncertain.get(name);
  return found && found.until > Date.now() ? found : undefined;
}

/** Send a request that changes something, by `send`. `account` is where: the same request elsewhere is another one. */
export async function sendOnce(request: Request, account: string | null, send: (request: Request) => Promise<Response>): Promise<Response> {
  const name = `${account} ${request.method} ${request.url} ${await request.clone().text()}`;
  const before = earlier(name);
  const key = before?.key ?? newKey();
  if (request.method === "POST" && !request.headers.has("Idempotency-Key")) request.headers.set("Idempotency-Key", key);
  uncertain.set(name, { key, until: Date.now() + KEPT_MS });
  const response = await send(request);
  if (!UNCERTAIN_STATUSES.includes(response.status) && !(await isInProgress(response))) uncertain.delete(name);
  return before && request.method === "DELETE" && response.status === 404 ? Response.json({ deleted: true }) : response;
}
