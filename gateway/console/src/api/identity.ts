/** Whose answers the pages keep. */
import { hashKey, type QueryClient } from "@tanstack/preact-query";

import type { Schemas } from "./client";
import { session } from "./queries";

const SESSION = hashKey(session.queryKey);

/** The account and the person of a session. */
export function identityOf(who: Schemas["Session"] | null | undefined): string {
  return who ? `${who.account.id} ${who.person ?? ""}` : "";
}

/** Forget all answers whenever the session becomes that of another account or person, or ends, in whatever way this is noticed. */
export function forgetFormer(client: QueryClient): void {
  let former = "";
  client.getQueryCache().subscribe(({ type, query }) => {
    if (type !== "updated" || query.queryHash !== SESSION) return;
    const now = identityOf(client.getQueryData(session.queryKey));
    if (now !== former) client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== session.queryKey[0] });
    former = now;
  });
}
