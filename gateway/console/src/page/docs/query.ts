import { queryOptions } from "@tanstack/preact-query";

import { answer, api } from "../../api/client";
import type { Description } from "./description";

/** The API's description, which changes only with the gateway. */
export const description = queryOptions({
  queryKey: ["description"],
  queryFn: async () => (await answer(api.GET("/api/v1.0/openapi.json"))) as unknown as Description,
  staleTime: Infinity,
});
