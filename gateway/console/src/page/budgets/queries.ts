import { queryOptions } from "@tanstack/preact-query";

import { api, page } from "../../api/client";
import { everyMinute } from "../../api/polling";

export const budgets = queryOptions({
  queryKey: ["budgets"],
  queryFn: () => page(api.GET("/api/v1.0/fleet/budgets", { params: { query: { limit: 100 } } })),
  refetchInterval: everyMinute,
});

/** The last periods of a budget that have ended. */
export const budgetHistory = (id: string) =>
  queryOptions({
    queryKey: ["budgets", id, "history"],
    queryFn: () =>
      page(api.GET("/api/v1.0/fleet/budgets/{budget_id}/history", { params: { path: { budget_id: id }, query: { limit: 12 } } })),
  });
