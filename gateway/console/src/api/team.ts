/** What the pages read of accounts and their members. */
import { queryOptions } from "@tanstack/preact-query";

import { answer, api, page } from "./client";

/** The members of the account. */
export const team = queryOptions({
  queryKey: ["team"],
  queryFn: () => answer(api.GET("/api/v1.0/team")),
});

/** Those of the session's person. */
export const accounts = queryOptions({
  queryKey: ["accounts"],
  queryFn: () => page(api.GET("/api/v1.0/accounts", { params: { query: { limit: 100 } } })),
});
