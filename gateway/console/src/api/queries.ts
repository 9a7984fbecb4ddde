/** What the pages read: one row a question, with the key under which its answer is kept. */
import { queryOptions } from "@tanstack/preact-query";

import { answer, api, page, type Schemas } from "./client";
import { Problem } from "./problem";

export type Period = "today" | "week";
export type ExperimentStatus = Schemas["ExperimentStatus"];

/** Null: there is no session. */
export const session = queryOptions({
  queryKey: ["session"],
  queryFn: async () => {
    try {
      return await answer(api.GET("/api/v1.0/session"));
    } catch (error) {
      if (error instanceof Problem && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: Infinity,
});

/** Interests of a digest that are read at once. */
export const DIGEST_INTERESTS = 25;

export const digest = (period: Period, offset: number) =>
  queryOptions({
    queryKey: ["digest", period, offset],
    queryFn: () =>
      page(
        api.GET("/api/v1.0/papers/recommended/digest", {
          params: { query: { period, limit: 10, limit_interests: DIGEST_INTERESTS, offset } },
        }),
      ),
  });

export const explanation = (id: string) =>
  queryOptions({
    queryKey: ["explanation", id],
    queryFn: () =>
      answer(api.GET("/api/v1.0/papers/recommended/{recommendation_id}/explanation", { params: { path: { recommendation_id: id } } })),
    staleTime: Infinity,
  });

export const refreshTask = (id: string | null) =>
  queryOptions({
    queryKey: ["refresh", id],
    queryFn: () => answer(api.GET("/api/v1.0/papers/recommended/refresh/{task_id}", { params: { path: { task_id: id ?? "" } } })),
    enabled: id !== null,
  });

export const interests = queryOptions({
  queryKey: ["interests"],
  queryFn: () => page(api.GET("/api/v1.0/interests", { params: { query: { limit: 100 } } })),
});

export const interest = (id: string) =>
  queryOptions({
    queryKey: ["interests", id],
    queryFn: () => answer(api.GET("/api/v1.0/interests/{interest_id}", { params: { path: { interest_id: id } } })),
  });

export interface PaperSearch {
  query: string;
  categories: string[];
  onlyContainers: boolean;
}

export const papers = (search: PaperSearch) =>
  queryOptions({
    queryKey: ["papers", search],
    queryFn: () =>
      answer(
        api.POST("/api/v1.0/search/assets", {
          body: {
            query: search.query,
            max_results: 25,
            ...(search.categories.length > 0 ? { categories: search.categories } : {}),
            ...(search.onlyContainers ? { has_container: true } : {}),
          },
        }),
      ),
    enabled: search.query !== "",
  });

export const newestPapers = queryOptions({
  queryKey: ["papers", "newest"],
  queryFn: () => page(api.GET("/api/v1.0/search/assets/list", { params: { query: { limit: 25 } } })),
});

export const paper = (id: string) =>
  queryOptions({
    queryKey: ["paper", id],
    queryFn: () => answer(api.GET("/api/v1.0/search/assets/{arxiv_id}", { params: { path: { arxiv_id: id } } })),
  });

export const experiments = (status: ExperimentStatus | null, offset: number) =>
  queryOptions({
    queryKey: ["experiments", status, offset],
    queryFn: () => page(api.GET("/api/v1.0/experiments", { params: { query: { limit: 25, offset, ...(status ? { status } : {}) } } })),
  });

export const experiment = (id: string) =>
  queryOptions({
    queryKey: ["experiments", id],
    queryFn: () => answer(api.GET("/api/v1.0/experiments/{experiment_id}", { params: { path: { experiment_id: id } } })),
  });

export const fleetReport = queryOptions({
  queryKey: ["fleet", "report"],
  queryFn: () => answer(api.GET("/api/v1.0/fleet/agents/report")),
});

export const installations = queryOptions({
  queryKey: ["fleet", "installations"],
  queryFn: () => page(api.GET("/api/v1.0/fleet/installations")),
});

export const runs = (offset: number) =>
  queryOptions({
    queryKey: ["fleet", "runs", offset],
    queryFn: () => page(api.GET("/api/v1.0/fleet/runs", { params: { query: { limit: 25, offset } } })),
  });

export const inbox = (archived: boolean) =>
  queryOptions({
    queryKey: ["inbox", archived],
    queryFn: () => page(api.GET("/api/v1.0/fleet/agents/inbox", { params: { query: { archived } } })),
    refetchInterval: 60_000,
  });

export const keys = queryOptions({
  queryKey: ["keys"],
  queryFn: () => answer(api.GET("/api/v1.0/account/api-keys", { params: { query: { limit: 200 } } })),
});

export const sessions = queryOptions({
  queryKey: ["sessions"],
  queryFn: () => page(api.GET("/api/v1.0/sessions")),
});
