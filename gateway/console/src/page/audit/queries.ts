import { keepPreviousData, queryOptions } from "@tanstack/preact-query";

import { api, defined, page } from "../../api/client";
import { everyMinute } from "../../api/polling";

/** Rows of the log that are read at once. */
export const ROWS = 25;

const DAY_MS = 86_400_000;

/** What is undefined does not filter. */
export interface AuditFilter {
  action: string | undefined; // how it begins: `key.`
  person_id: string | undefined;
  since: string | undefined; // the first day, UTC: `2026-11-26`
  until: string | undefined; // the last day
}

/** The filter as the API takes it: its days are times, and it ends before `until`. */
function parametersOf({ action, person_id, since, until }: AuditFilter) {
  const start = (day: string | undefined, later = 0) => (day ? new Date(Date.parse(`${day}T00:00:00Z`) + later).toISOString() : undefined);
  return defined({ action, person_id, since: start(since), until: start(until, DAY_MS) });
}

/** The log in the API, as the filter narrows it. */
export function pathOf(filter: AuditFilter): string {
  const query = new URLSearchParams(Object.entries(parametersOf(filter)));
  return `/api/v1.0/account/audit?${query.toString()}`;
}

export const audit = (filter: AuditFilter, offset: number) =>
  queryOptions({
    queryKey: ["audit", filter, offset],
    queryFn: () => page(api.GET("/api/v1.0/account/audit", { params: { query: { ...parametersOf(filter), limit: ROWS, offset } } })),
    refetchInterval: everyMinute,
    placeholderData: keepPreviousData,
  });
