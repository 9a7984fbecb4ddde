import { queryOptions } from "@tanstack/preact-query";

import { answer, api } from "../../api/client";

/** What is at an address, in a few sentences. The service makes them once. */
export const digest = (href: string) =>
  queryOptions({
    queryKey: ["inbox", "digest", href],
    queryFn: () => answer(api.POST("/api/v1.0/fleet/agents/inbox/digest", { body: { href } })),
  });
