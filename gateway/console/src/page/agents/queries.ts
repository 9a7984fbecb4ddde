/** What the pages of agents and runs read. */
import { keepPreviousData, queryOptions } from "@tanstack/preact-query";

import { answer, api, defined, every, page, type Schemas } from "../../api/client";
import { everyMinute, pollWhile } from "../../api/polling";

/** Since a day, by default the last 30 days, of all agents or of those of a repository. */
export const fleetReport = (repo?: string, since?: string) =>
  queryOptions({
    queryKey: ["fleet", "report", repo, since],
    queryFn: () =>
      answer(
        api.GET("/api/v1.0/fleet/agents/report", { params: { query: { ...(repo ? { repos: [repo] } : {}), ...defined({ since }) } } }),
      ),
    refetchInterval: everyMinute,
    placeholderData: keepPreviousData,
  });

/** All pull requests that wait for a review, whenever they were opened. */
export const waitingPulls = queryOptions({
  queryKey: ["inbox", "pulls"],
  queryFn: () =>
    every((limit, offset) =>
      page(api.GET("/api/v1.0/fleet/agents/inbox", { params: { query: { kind: "pull_request_waiting", limit, offset } } })),
    ),
  refetchInterval: everyMinute,
});

export const activity = (repo: string) =>
  queryOptions({
    queryKey: ["fleet", "activity", repo],
    queryFn: () => answer(api.GET("/api/v1.0/fleet/agents/activity", { params: { query: { repo } } })),
    refetchInterval: everyMinute,
  });

const STARTED: readonly unknown[] = ["queued", "in_progress", "running"];

/** The newest run of a repository, which is asked for while it runs. */
export const newestRun = (repo: string) =>
  queryOptions({
    queryKey: ["fleet", "newest", repo],
    queryFn: () => answer(api.GET("/api/v1.0/fleet/run-status", { params: { query: { repo } } })),
    refetchInterval: pollWhile(({ status }) => STARTED.includes(status)),
  });

export const runs = (repo: string | undefined, offset: number) =>
  queryOptions({
    queryKey: ["fleet", "runs", repo, offset],
    queryFn: () => page(api.GET("/api/v1.0/fleet/runs", { params: { query: { ...defined({ repo }), limit: 25, offset } } })),
    refetchInterval: everyMinute,
    placeholderData: keepPreviousData,
  });

/** The runs with an id, one of each repository at most, with what they chose from. */
export const runsNamed = (run_id: string, repo: string | undefined) =>
  queryOptions({
    queryKey: ["fleet", "run", run_id, repo],
    queryFn: () =>
      page(api.GET("/api/v1.0/fleet/runs", { params: { query: { ...defined({ repo }), run_id, include: "selection", limit: 100 } } })),
    refetchInterval: pollWhile(({ items }) => items.some(({ outcome_kind: outcome }) => outcome === "running")),
  });

const nameOf = ({ repo, target_repo, run_id }: Schemas["Run"]) => ({ repo: repo ?? target_repo ?? "", run_id });

/** Why a run ended so. The answer is kept by the service until the record of the run changes. */
export const runAnalysis = (run: Schemas["Run"]) =>
  queryOptions({
    queryKey: ["fleet", "run", nameOf(run), run.updated_at, "analysis"],
    queryFn: () => answer(api.POST("/api/v1.0/fleet/agents/runs/analyze", { body: nameOf(run) })),
  });

export const runEvidence = (run: Schemas["Run"]) =>
  queryOptions({
    queryKey: ["fleet", "run", nameOf(run), run.updated_at, "evidence"],
    queryFn: () => answer(api.POST("/api/v1.0/fleet/agents/artifact/evidence", { body: { artifact: nameOf(run) } })),
  });
