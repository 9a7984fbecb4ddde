/** What the steps ask the service, beside what other pages ask, too (api/queries.ts). */
import { queryOptions } from "@tanstack/preact-query";

import { answer, api, page } from "../../api/client";

export const providers = queryOptions({
  queryKey: ["integrations", "providers"],
  queryFn: () => answer(api.GET("/api/v1.0/integrations/providers")),
});

export const connections = queryOptions({
  queryKey: ["integrations", "connections"],
  queryFn: () => page(api.GET("/api/v1.0/integrations/connections", { params: { query: { limit: 100 } } })),
});

export const codeHostApp = queryOptions({
  queryKey: ["integrations", "app"],
  queryFn: () => answer(api.GET("/api/v1.0/github/app")),
});

export const provisioning = (interest: string) =>
  queryOptions({
    queryKey: ["provisioning", interest],
    queryFn: () => answer(api.GET("/api/v1.0/interests/{interest_id}/provision-status", { params: { path: { interest_id: interest } } })),
  });
