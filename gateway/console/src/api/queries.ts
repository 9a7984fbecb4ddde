/** What the pages read: one row a question, with the key under which its answer is kept. */
import { keepPreviousData, queryOptions } from "@tanstack/preact-query";

import { answer, api, defined, every, page, versioned, withLeftOut, type Schemas } from "./client";
import { everyMinute, pollWhile } from "./polling";

export type Period = "today" | "week";

/** Interests of a digest that are read at once. */
export const DIGEST_INTERESTS = 25;

/** Its first recommendations, or the first of its present context, are being computed. */
export function isAwaited({ count, message, pool_status: pool }: Schemas["Digest"]["interests"][number]): boolean {
  return count === 0 && message !== null && pool !== "failed";
}

const isAnyAwaited = ({ items }: { items: Schemas["Digest"] }) => items.interests.some(isAwaited);

export const digest = (period: Period, offset: number) =>
  queryOptions({
    queryKey: ["digest", period, offset],
    queryFn: () =>
      page(
        api.GET("/api/v1.0/papers/recommended/digest", {
          params: { query: { period, limit: 10, limit_interests: DIGEST_INTERESTS, offset } },
        }),
      ),
    refetchInterval: (query) => pollWhile(isAnyAwaited)(query) || everyMinute(),
  });

export const explanation = (id: string) =>
  queryOptions({
    queryKey: ["explanation", id],
    queryFn: () =>
      answer(api.GET("/api/v1.0/papers/recommended/{recommendation_id}/explanation", { params: { path: { recommendation_id: id } } })),
    staleTime: Infinity,
  });

/** What became of the recommendations of the last days. */
export const funnel = (days = 30) =>
  queryOptions({
    queryKey: ["digest", "funnel", days],
    queryFn: () => answer(api.GET("/api/v1.0/papers/recommended/funnel", { params: { query: { days } } })),
  });

/** What the recommendations of an interest were worth, by week. */
export const quality = (id: string) =>
  queryOptions({
    queryKey: ["interests", id, "quality"],
    queryFn: () => answer(api.GET("/api/v1.0/interests/{interest_id}/quality", { params: { path: { interest_id: id } } })),
  });

/** A task that is asked for until it ends; null: none has been started. */
export const taskOptions = (id: string | null, read: (id: string) => Promise<Schemas["Task"]>) =>
  queryOptions({
    queryKey: ["task", id],
    queryFn: () => read(id ?? ""),
    enabled: id !== null,
    refetchInterval: pollWhile((task) => task.status === "pending" || task.status === "running"),
  });

export const refreshTask = (id: string | null) =>
  taskOptions(id, (task_id) => answer(api.GET("/api/v1.0/papers/recommended/refresh/{task_id}", { params: { path: { task_id } } })));

export const refitTask = (history_id: string) => (id: string | null) =>
  taskOptions(id, (task_id) =>
    answer(
      api.GET("/api/v1.0/experiment-histories/{history_id}/refit-preference-model/{task_id}", {
        params: { path: { history_id, task_id } },
      }),
    ),
  );

const readInterests = (limit: number, offset: number) => page(api.GET("/api/v1.0/interests", { params: { query: { limit, offset } } }));

/** All of them. */
export const interests = queryOptions({
  queryKey: ["interests"],
  queryFn: () => every(readInterests),
  refetchInterval: everyMinute,
});

export const INTEREST_ROWS = 25;

export const interestPage = (offset: number) =>
  queryOptions({
    queryKey: ["interests", "page", offset],
    queryFn: () => readInterests(INTEREST_ROWS, offset),
    refetchInterval: everyMinute,
    placeholderData: keepPreviousData,
  });

/** Its papers are being searched for, or what its addresses lead to is not read yet. */
function isMade({ pool_status: pool, context_sources: sources }: Schemas["InterestDetail"]): boolean {
  return pool === "building" || pool === "stale" || sources.some(({ status }) => status === "pending");
}

export const interest = (id: string) =>
  queryOptions({
    queryKey: ["interests", id],
    queryFn: () => versioned(api.GET("/api/v1.0/interests/{interest_id}", { params: { path: { interest_id: id } } })),
    refetchInterval: pollWhile(isMade),
  });

export const paper = (id: string) =>
  queryOptions({
    queryKey: ["paper", id],
    queryFn: () => answer(api.GET("/api/v1.0/search/assets/{arxiv_id}", { params: { path: { arxiv_id: id } } })),
  });

/** All agents, in each of their repositories. */
export const installations = queryOptions({
  queryKey: ["fleet", "installations"],
  queryFn: () => every((limit, offset) => page(api.GET("/api/v1.0/fleet/installations", { params: { query: { limit, offset } } }))),
  refetchInterval: everyMinute,
});

export interface InboxFilter {
  archived: boolean;
  kind?: Schemas["InboxItem"]["kind"] | undefined;
}

/** Items of the inbox that are read at once. */
export const INBOX_ROWS = 50;

export const inbox = (filter: InboxFilter, offset = 0) =>
  queryOptions({
    queryKey: ["inbox", filter, offset],
    queryFn: () => page(api.GET("/api/v1.0/fleet/agents/inbox", { params: { query: { ...defined(filter), limit: INBOX_ROWS, offset } } })),
    refetchInterval: everyMinute,
  });

export const KEY_ROWS = 10;

export const keys = (offset: number) =>
  queryOptions({
    queryKey: ["keys", offset],
    queryFn: () => page(api.GET("/api/v1.0/account/api-keys", { params: { query: { limit: KEY_ROWS, offset } } })),
    placeholderData: keepPreviousData,
  });

export const SESSION_ROWS = 10;
export const SESSIONS = ["sessions"];

export const sessions = (offset: number) =>
  queryOptions({
    queryKey: [...SESSIONS, offset],
    queryFn: () => page(api.GET("/api/v1.0/sessions", { params: { query: { limit: SESSION_ROWS, offset } } })),
    refetchInterval: everyMinute,
    placeholderData: keepPreviousData,
  });

export const endpoints = queryOptions({
  queryKey: ["endpoints"],
  queryFn: () => page(api.GET("/api/v1.0/webhooks", { params: { query: { limit: 100 } } })),
  refetchInterval: everyMinute,
});

export const endpoint = (id: string) =>
  queryOptions({
    queryKey: ["endpoints", id],
    queryFn: () => answer(api.GET("/api/v1.0/webhooks/{webhook_id}", { params: { path: { webhook_id: id } } })),
    refetchInterval: everyMinute,
  });

export const eventTypes = queryOptions({
  queryKey: ["endpoints", "types"],
  queryFn: () => answer(api.GET("/api/v1.0/webhooks/event-types")),
  staleTime: Infinity,
});

export const deliveries = (id: string, status: Schemas["Delivery"]["status"] | undefined, offset: number) =>
  queryOptions({
    queryKey: ["endpoints", id, "deliveries", status, offset],
    queryFn: () =>
      page(
        api.GET("/api/v1.0/webhooks/{webhook_id}/deliveries", {
          params: { path: { webhook_id: id }, query: { ...defined({ status }), limit: 25, offset } },
        }),
      ),
    refetchInterval: everyMinute,
    placeholderData: keepPreviousData,
  });

export const delivery = (id: string, delivery: string) =>
  queryOptions({
    queryKey: ["endpoints", id, "delivery", delivery],
    queryFn: () =>
      answer(
        api.GET("/api/v1.0/webhooks/{webhook_id}/deliveries/{delivery_id}", {
          params: { path: { webhook_id: id, delivery_id: delivery } },
        }),
      ),
  });

export const searchStats = queryOptions({
  queryKey: ["operator", "search"],
  queryFn: () => answer(api.GET("/api/v1.0/search/stats")),
  refetchInterval: everyMinute,
});

export const taskSummary = queryOptions({
  queryKey: ["operator", "summary"],
  queryFn: () => withLeftOut(api.GET("/api/v1.0/tasks/summary")),
  refetchInterval: everyMinute,
});

/** What is undefined does not filter. */
export interface TaskFilter {
  type: Schemas["OperatorTask"]["type"];
  status: Schemas["OperatorTask"]["status"] | undefined;
  service: Schemas["ServiceName"] | undefined;
  kind: string | undefined;
  error: string | undefined;
  account_id: string | undefined;
}

export const operatorTasks = (filter: TaskFilter, offset: number) =>
  queryOptions({
    queryKey: ["operator", "tasks", filter, offset],
    queryFn: () => page(api.GET("/api/v1.0/tasks", { params: { query: { ...defined(filter), limit: 25, offset } } })),
    refetchInterval: everyMinute,
    placeholderData: keepPreviousData,
  });

const isAtWork = ({ status }: { status: string }) => ["queued", "building", "running"].includes(status);

const readTemplates = (limit: number, offset: number) =>
  page(api.GET("/api/v1.0/eval-env/templates", { params: { query: { limit, offset } } }));

export const templates = (offset: number) =>
  queryOptions({
    queryKey: ["evaluations", "templates", offset],
    queryFn: () => readTemplates(25, offset),
    refetchInterval: everyMinute,
    placeholderData: keepPreviousData,
  });

/** All of them, to choose from. */
export const everyTemplate = queryOptions({
  queryKey: ["evaluations", "templates", "all"],
  queryFn: () => every(readTemplates),
});

export const template = (id: string) =>
  queryOptions({
    queryKey: ["evaluations", "template", id],
    queryFn: () => versioned(api.GET("/api/v1.0/eval-env/templates/{template_id}", { params: { path: { template_id: id } } })),
  });

interface EvalRunFilter {
  status: Schemas["EvalRunStatus"] | undefined;
  template_id: string | undefined;
}

export const evalRuns = (filter: EvalRunFilter, limit: number, offset: number) =>
  queryOptions({
    queryKey: ["evaluations", "runs", filter, limit, offset],
    queryFn: () => page(api.GET("/api/v1.0/eval-env/runs", { params: { query: { ...defined(filter), limit, offset } } })),
    refetchInterval: everyMinute,
    placeholderData: keepPreviousData,
  });

export const evalRun = (id: string) =>
  queryOptions({
    queryKey: ["evaluations", "run", id],
    queryFn: () => answer(api.GET("/api/v1.0/eval-env/runs/{run_id}", { params: { path: { run_id: id } } })),
    refetchInterval: pollWhile(isAtWork),
  });

export const builds = (status: Schemas["BuildStatus"] | undefined, offset: number) =>
  queryOptions({
    queryKey: ["evaluations", "builds", status, offset],
    queryFn: () => page(api.GET("/api/v1.0/eval-env/builds", { params: { query: { ...defined({ status }), limit: 25, offset } } })),
    refetchInterval: everyMinute,
    placeholderData: keepPreviousData,
  });

export const build = (id: string) =>
  queryOptions({
    queryKey: ["evaluations", "build", id],
    queryFn: () => answer(api.GET("/api/v1.0/eval-env/builds/{build_id}", { params: { path: { build_id: id } } })),
    refetchInterval: pollWhile(isAtWork),
  });
