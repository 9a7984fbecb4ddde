import type { UseQueryResult } from "@tanstack/preact-query";
import type { ComponentChildren } from "preact";

import { text } from "../text";
import { Fault } from "./Fault";

interface Props<T> {
  query: UseQueryResult<T>;
  children: (data: T) => ComponentChildren;
}

/** The answer to a question: its content, that it is awaited, or why there is none. */
export function Answer<T>({ query, children }: Props<T>) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.error) return <Fault error={query.error} onRetry={() => void query.refetch()} />;
  return (
    <p class="quiet" aria-busy="true">
      {text.loading}
    </p>
  );
}
