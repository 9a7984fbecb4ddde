/** Whose answers the pages keep. */
import { hashKey, type Query, type QueryClient } from "@tanstack/preact-query";

import { onAccountChanged, onSessionEnded, showAccount } from "./client";
import { pausePolling } from "./polling";
import { endOf, session, windows, type Shown } from "./session";

const SESSION = hashKey(session.queryKey);

/** The account and the person of a session. */
export function identityOf(who: Shown | null | undefined): string {
  return who ? `${who.account.id} ${who.person ?? ""}` : "";
}

/** Whether a session is needed for the answer. */
const needsSession = ({ queryKey }: Query) => queryKey[0] !== session.queryKey[0];

/** Forget all answers whenever the session becomes that of another account or person, or is given up, in whatever way this is noticed.
 * When it has ended they stay, and are asked for anew once the same person is back. The other windows are told of whoever has a
 * session now. */
export function forgetFormer(client: QueryClient): void {
  let former = "";
  let hadEnded = false;
  onSessionEnded(() => client.setQueryData(session.queryKey, endOf));
  client.getQueryCache().subscribe(({ type, query }) => {
    if (type !== "updated" || query.queryHash !== SESSION) return;
    const who = client.getQueryData(session.queryKey);
    const now = identityOf(who);
    const hasEnded = who?.hasEnded ?? false;
    const isAnother = now !== former;
    const isBack = hadEnded && !hasEnded;
    former = now;
    hadEnded = hasEnded;
    pausePolling(hasEnded);
    if (!isAnother && !isBack) return;
    if (isAnother) {
      showAccount(who?.account.id ?? null);
      client.removeQueries({ predicate: needsSession });
    } else void client.invalidateQueries({ predicate: needsSession });
    if (who) windows.postMessage(false);
  });
}

/** Ask whose the session is whenever another window has changed that, and call `changed` where the pages showed somebody, and show
 * somebody else now. Where somebody has logged out there, nothing stays; a session that has ended otherwise leaves the page as it is.
 * Returns what stops that. */
export function followWindows(client: QueryClient, changed: () => void): () => void {
  const identity = () => identityOf(client.getQueryData(session.queryKey));
  const ask = async () => {
    const before = identity();
    await client.refetchQueries({ queryKey: session.queryKey, exact: true });
    if (before !== "" && identity() !== "" && identity() !== before) changed();
  };
  const forget = () => client.setQueryData(session.queryKey, (who) => (who?.hasEnded ? null : who));
  const stop = onAccountChanged(() => void ask());
  const listener = ({ data: isLoggedOut }: MessageEvent<boolean>) => void ask().then(() => isLoggedOut && forget());
  windows.addEventListener("message", listener);
  return () => {
    stop();
    windows.removeEventListener("message", listener);
  };
}
