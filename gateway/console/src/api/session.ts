/** Whose pages are shown. */
import { queryOptions, type QueryClient } from "@tanstack/preact-query";

import { answer, api, type Schemas } from "./client";
import { Problem } from "./problem";

/** The session. */
export interface Shown extends Readonly<Schemas["Session"]> {
  hasEnded?: true; // its pages stay, for what is typed in them, until somebody logs in
}

const SESSION = ["session"] as const;

/** What becomes of a session when an answer says that there is none. */
export const endOf = (who: Shown | null | undefined): Shown | null => (who ? { ...who, hasEnded: true } : null);

/** Null: there is no session. */
export const session = queryOptions({
  queryKey: SESSION,
  queryFn: async ({ client }): Promise<Shown | null> => {
    try {
      return await answer(api.GET("/api/v1.0/session"));
    } catch (error) {
      if (error instanceof Problem && error.status === 401) return endOf(client.getQueryData<Shown | null>(SESSION));
      throw error;
    }
  },
  staleTime: Infinity,
  refetchOnWindowFocus: "always", // another page may have logged in somebody else
});

/** The other windows of this browser, which have the same session. They are told that somebody has logged out, true, or that whose
 * session it is has changed in another way, false. */
export const windows = new BroadcastChannel("expops-session");

/** Show that there is no session any more, since the person of this window has ended it. No window keeps anything of it. */
export function showLoggedOut(client: QueryClient): void {
  client.setQueryData(session.queryKey, null);
  windows.postMessage(true);
}
