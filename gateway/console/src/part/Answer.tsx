import type { UseQueryResult } from "@tanstack/preact-query";
import { createContext, type ComponentChildren } from "preact";

import type { Schemas } from "../api/client";
import { text } from "../text";
import { Fault } from "./Fault";

/** Whether what is shown answers the question before, of another page or filter of the same list, until the answer comes. */
export const IsFormer = createContext(false);

interface Props<T> {
  query: UseQueryResult<T>;
  children: (data: T) => ComponentChildren;
}

/** The answer to a question: its content, that it is awaited, or why there is none. */
export function Answer<T>({ query, children }: Props<T>) {
  if (query.data !== undefined) return <IsFormer.Provider value={query.isPlaceholderData}>{children(query.data)}</IsFormer.Provider>;
  if (query.error) return <Fault error={query.error} onRetry={() => void query.refetch()} />;
  return (
    <p class="quiet" aria-busy="true">
      {text.loading}
    </p>
  );
}

interface MissingProps {
  missing: readonly Schemas["EvidenceMissing"][];
  hidden: number; // what the key's limit keeps back
}

/** What an answer that several services have parts in does not show, and why. */
export function MissingParts({ missing, hidden }: MissingProps) {
  const words = text.missing;
  return (
    <>
      {missing.map(({ part, why }) => (
        <p key={part} class="small warm" role="status">
          {words.parts[part]} {words.whys[why]}
        </p>
      ))}
      {hidden > 0 && <p class="small quiet">{words.hidden(hidden)}</p>}
    </>
  );
}
