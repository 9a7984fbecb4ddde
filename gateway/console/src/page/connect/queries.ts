/** What the steps ask the service, beside what other pages ask, too (api/queries.ts). */
import { queryOptions } from "@tanstack/preact-query";

import { answer, api, page } from "../../api/client";
import { pollWhile } from "../../api/polling";

export const providers = queryOptions({
  queryKey: ["integrations", "providers"],
  queryFn: () => answer(api.GET("/api/v1.0/integrations/providers")),
});

/** Whether the account is connected, also by a connection that the provider accepts no more. */
export const connectionStatus = (provider: string) =>
  queryOptions({
    queryKey: ["integrations", "status", provider],
    queryFn: () => answer(api.GET("/api/v1.0/integrations/{provider_name}/status", { params: { path: { provider_name: provider } } })),
  });

export const codeHostApp = queryOptions({
  queryKey: ["integrations", "app"],
  queryFn: () => answer(api.GET("/api/v1.0/github/app")),
});

/** Where the agent of an interest stands, which is asked for while it is set up. */
export const provisioning = (interest: string) =>
  queryOptions({
    queryKey: ["provisioning", interest],
    queryFn: () => answer(api.GET("/api/v1.0/interests/{interest_id}/provision-status", { params: { path: { interest_id: interest } } })),
    refetchInterval: pollWhile(({ state }) => state === "in_progress"),
  });

export const provisionTask = (interest_id: string, task_id: string) =>
  queryOptions({
    queryKey: ["provisioning", interest_id, task_id],
    queryFn: () => answer(api.GET("/api/v1.0/interests/{interest_id}/provision/{task_id}", { params: { path: { interest_id, task_id } } })),
    refetchInterval: pollWhile(({ status }) => status === "pending" || status === "running"),
  });

export const feeds = queryOptions({
  queryKey: ["feeds"],
  queryFn: () => page(api.GET("/api/v1.0/papers/recommended/feeds", { params: { query: { limit: 100 } } })),
});
