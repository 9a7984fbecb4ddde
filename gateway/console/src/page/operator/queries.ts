import { queryOptions } from "@tanstack/preact-query";

import { answer, api } from "../../api/client";

/** Of the gateway that answers. */
export const version = queryOptions({
  queryKey: ["operator", "version"],
  queryFn: () => answer(api.GET("/api/v1.0/version")),
});
