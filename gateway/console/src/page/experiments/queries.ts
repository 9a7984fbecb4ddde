/** What the pages of experiments read. */
import { keepPreviousData, queryOptions } from "@tanstack/preact-query";

import { answer, api, defined, page, versioned, type Schemas } from "../../api/client";
import { everyMinute, pollWhile } from "../../api/polling";

export type ExperimentStatus = Schemas["ExperimentStatus"];

/** Rows of a list that are read at once. */
export const ROWS = 25;

export interface ExperimentFilter {
  status: ExperimentStatus | undefined;
  project_id: string | undefined;
  tag: string | undefined;
}

/** Those that an agent can implement: they say where, and have no pull request yet. */
export const actionable = (offset: number) =>
  queryOptions({
    queryKey: ["experiments", "actionable", offset],
    queryFn: () => page(api.GET("/api/v1.0/implement/experiments/actionable", { params: { query: { limit: ROWS, offset } } })),
    refetchInterval: everyMinute,
    placeholderData: keepPreviousData,
  });

export const experiments = (filter: ExperimentFilter, offset: number) =>
  queryOptions({
    queryKey: ["experiments", filter, offset],
    queryFn: () => page(api.GET("/api/v1.0/experiments", { params: { query: { limit: ROWS, offset, ...defined(filter) } } })),
    refetchInterval: everyMinute,
    placeholderData: keepPreviousData,
  });

/** How many a filter finds. */
export const experimentCount = (filter: ExperimentFilter) =>
  queryOptions({
    queryKey: ["experiments", "count", filter],
    queryFn: async () => (await page(api.GET("/api/v1.0/experiments", { params: { query: { limit: 1, ...defined(filter) } } }))).total,
    refetchInterval: everyMinute,
  });

/** A hundred at most can be chosen from. */
export const projects = (limit: number, offset: number) =>
  queryOptions({
    queryKey: ["experiments", "projects", limit, offset],
    queryFn: () => page(api.GET("/api/v1.0/projects", { params: { query: { limit, offset } } })),
    placeholderData: keepPreviousData,
  });

export const project = (id: string) =>
  queryOptions({
    queryKey: ["experiments", "projects", id],
    queryFn: () => versioned(api.GET("/api/v1.0/projects/{project_id}", { params: { path: { project_id: id } } })),
  });

export const experiment = (id: string) =>
  queryOptions({
    queryKey: ["experiments", id],
    queryFn: () => versioned(api.GET("/api/v1.0/experiments/{experiment_id}", { params: { path: { experiment_id: id } } })),
  });

/** Experiments beside each other. */
export const comparison = (ids: readonly string[]) =>
  queryOptions({
    queryKey: ["experiments", "compare", ...ids],
    queryFn: () => answer(api.GET("/api/v1.0/experiments/compare", { params: { query: { ids: [ids.join(",")] } } })),
  });

/** The analyses of the results, newest first. */
export const results = (id: string) =>
  queryOptions({
    queryKey: ["experiments", id, "results"],
    queryFn: async () => {
      const call = api.GET("/api/v1.0/experiments/{experiment_id}/results", {
        params: { path: { experiment_id: id }, query: { all: true } },
      });
      return [await answer(call)].flat();
    },
  });

/** How it came from its paper to its decision: as it is now, or as it was kept at that. */
export const evidence = (id: string, at: "decision" | undefined) =>
  queryOptions({
    queryKey: ["experiments", id, "evidence", at],
    queryFn: async () => {
      const params = { path: { experiment_id: id }, query: defined({ at }) };
      const graph = await answer(api.GET("/api/v1.0/experiments/{experiment_id}/evidence", { params }));
      if (!("nodes" in graph)) throw new TypeError("not the form that was asked for");
      return graph;
    },
  });

/** Where to find code to start from. */
export const reference = (id: string) =>
  queryOptions({
    queryKey: ["experiments", id, "reference"],
    queryFn: () =>
      answer(api.GET("/api/v1.0/implement/experiments/{experiment_id}/reference", { params: { path: { experiment_id: id } } })),
  });

const IMPLEMENTING: readonly Schemas["PipelineState"][] = ["queued", "assembling_context", "dispatching", "running"];

export const isImplementing = ({ pipeline_status }: Schemas["PipelineStatus"]) => IMPLEMENTING.includes(pipeline_status);

export const implementation = (id: string) =>
  queryOptions({
    queryKey: ["experiments", id, "implementation"],
    queryFn: () => answer(api.GET("/api/v1.0/implement/experiments/{experiment_id}/status", { params: { path: { experiment_id: id } } })),
    refetchInterval: pollWhile(isImplementing),
  });

/** Read at the tracker every ten minutes at most. */
export const ticket = (id: string) =>
  queryOptions({
    queryKey: ["experiments", id, "ticket"],
    queryFn: () => answer(api.GET("/api/v1.0/experiments/{experiment_id}/ticket", { params: { path: { experiment_id: id } } })),
  });
