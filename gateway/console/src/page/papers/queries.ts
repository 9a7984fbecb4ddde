/** What the pages of papers read beside the questions that others ask, too. */
import { queryOptions } from "@tanstack/preact-query";

import { answer, api } from "../../api/client";

/** What became of a paper in this account. */
export const outcomes = (id: string) =>
  queryOptions({
    queryKey: ["papers", id, "outcomes"],
    queryFn: () => answer(api.GET("/api/v1.0/search/assets/{arxiv_id}/outcomes", { params: { path: { arxiv_id: id } } })),
  });
