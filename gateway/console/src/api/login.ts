/** By which ways people log in. */
import { queryOptions } from "@tanstack/preact-query";

import { answer, api } from "./client";

export const waysToLogIn = queryOptions({
  queryKey: ["session", "login"],
  queryFn: () => answer(api.GET("/api/v1.0/session/login")),
  staleTime: Infinity,
});

/** The page that leads to the provider and, after the log-in there, to `path` of the console. `how`: with `link` the person of this
 * session gets one more way to log in; with `invitation`, a token, who logs in accepts it. */
export function providerLink(path: string, how: { link?: "true"; invitation?: string } = {}): string {
  return `/api/v1.0/session/oidc/start?${new URLSearchParams({ return_to: path, ...how })}`;
}
