/** Papers that runs name by their ids. */
import { useQuery } from "@tanstack/preact-query";
import { Link } from "wouter-preact";

import { answer, api } from "../../api/client";
import { withEach } from "../../api/repeated";
import { useScope } from "../../part/scope";
import { Unknown } from "../../part/Time";

export type Titles = ReadonlyMap<string, string>;

const ASKED_MAX = 100;

async function titlesOf(ids: readonly string[]): Promise<Titles> {
  const found = await answer(
    api.GET("/api/v1.0/search/assets/list", {
      params: { query: { limit: ASKED_MAX } },
      querySerializer: (query) => withEach("ids", ids, query),
    }),
  );
  return new Map(found.map(({ arxiv_id, title }) => [arxiv_id, title]));
}

/** The titles of the first hundred of these papers, as far as they are stored and can be read. */
export function useTitles(ids: readonly (string | null | undefined)[]): Titles {
  const asked = [...new Set(ids.filter((id) => id !== null && id !== undefined))].slice(0, ASKED_MAX).sort();
  const mayRead = useScope("search:read");
  const { data } = useQuery({
    queryKey: ["papers", "titles", asked],
    queryFn: () => titlesOf(asked),
    enabled: mayRead && asked.length > 0,
    staleTime: Infinity,
  });
  return data ?? new Map<string, string>();
}

export function PaperLink({ id, titles }: { id: string | null | undefined; titles: Titles }) {
  if (!id) return <Unknown />;
  const title = titles.get(id);
  return (
    <>
      <Link href={`/papers/${encodeURIComponent(id)}`}>{title ?? id}</Link> {title && <span class="quiet">{id}</span>}
    </>
  );
}
