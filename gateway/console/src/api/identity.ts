/** Whose answers the pages keep. */
import { hashKey, type QueryClient } from "@tanstack/preact-query";

import { onAccountChanged, showAccount, type Schemas } from "./client";
import { session } from "./queries";

const SESSION = hashKey(session.queryKey);

/** The account and the person of a session. */
export function identityOf(who: Schemas["Session"] | null | undefined): string {
  return who ? `${who.account.id} ${who.person ?? ""}` : "";
}

/** The other windows of this browser, which have the same session. */
const windows = new BroadcastChannel("expops-session");

/** Forget all answers whenever the session becomes that of another account or person, or ends, in whatever way this is noticed, and tell
 * the other windows. */
export function forgetFormer(client: QueryClient): void {
  let former = "";
  client.getQueryCache().subscribe(({ type, query }) => {
    if (type !== "updated" || query.queryHash !== SESSION) return;
    const who = client.getQueryData(session.queryKey);
    const now = identityOf(who);
    if (now === former) return;
    showAccount(who?.account.id ?? null);
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== session.queryKey[0] });
    former = now;
    windows.postMessage(null);
  });
}

/** Ask whose the session is whenever another window has changed that, and call `changed` where the pages showed somebody, and show
 * somebody else now. Returns what stops that. */
export function followWindows(client: QueryClient, changed: () => void): () => void {
  const identity = () => identityOf(client.getQueryData(session.queryKey));
  const ask = async () => {
    const before = identity();
    await client.refetchQueries({ queryKey: session.queryKey, exact: true });
    if (before !== "" && identity() !== "" && identity() !== before) changed();
  };
  const listener = () => void ask();
  const stop = onAccountChanged(listener);
  windows.addEventListener("message", listener);
  return () => {
    stop();
    windows.removeEventListener("message", listener);
  };
}
