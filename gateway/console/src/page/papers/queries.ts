/** What the pages of papers read beside the questions that others ask, too. */
import { keepPreviousData, queryOptions } from "@tanstack/preact-query";

import { answer, api, page } from "../../api/client";
import { withEach } from "../../api/repeated";

/** Papers that the pages of a search have at most. */
export const FOUND_PAPERS = 1000;

export const PAPER_ROWS = 25;

export interface PaperSearch {
  query: string;
  categories: string[];
  onlyContainers: boolean;
}

export const papers = (search: PaperSearch, offset: number) =>
  queryOptions({
    queryKey: ["papers", search, offset],
    queryFn: () =>
      page(
        api.POST("/api/v1.0/search/assets", {
          body: {
            query: search.query,
            max_results: PAPER_ROWS,
            offset: Math.min(offset, FOUND_PAPERS),
            ...(search.categories.length > 0 ? { categories: search.categories } : {}),
            ...(search.onlyContainers ? { has_container: true } : {}),
          },
        }),
      ),
    enabled: search.query !== "",
    placeholderData: keepPreviousData,
  });

export const newestPapers = ({ categories, onlyContainers }: PaperSearch, offset: number) =>
  queryOptions({
    queryKey: ["papers", "newest", categories, onlyContainers, offset],
    queryFn: () =>
      page(
        api.GET("/api/v1.0/search/assets/list", {
          params: { query: { limit: PAPER_ROWS, offset, ...(onlyContainers ? { has_container: true } : {}) } },
          querySerializer: (query) => withEach("category", categories, query),
        }),
      ),
    placeholderData: keepPreviousData,
  });

export const similarPapers = (id: string) =>
  queryOptions({
    queryKey: ["paper", id, "similar"],
    queryFn: () =>
      answer(api.GET("/api/v1.0/search/assets/{arxiv_id}/similar", { params: { path: { arxiv_id: id }, query: { limit: 5 } } })),
  });

/** What became of a paper in this account. */
export const outcomes = (id: string) =>
  queryOptions({
    queryKey: ["papers", id, "outcomes"],
    queryFn: () => answer(api.GET("/api/v1.0/search/assets/{arxiv_id}/outcomes", { params: { path: { arxiv_id: id } } })),
  });
