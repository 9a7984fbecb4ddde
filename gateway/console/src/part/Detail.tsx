import type { UseQueryResult } from "@tanstack/preact-query";
import type { ComponentChildren } from "preact";

import { Answer } from "./Answer";
import { Page } from "./Page";

interface Props<T> {
  kind: string; // what it is; the title until it is known what it is called
  query: UseQueryResult<T>;
  children: (data: T) => ComponentChildren;
}

/** The page of one thing, which is a page also while the thing is awaited, and when there is none. */
export function Detail<T>({ kind, query, children }: Props<T>) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  return (
    <Page title={kind}>
      <Answer query={query}>{children}</Answer>
    </Page>
  );
}
