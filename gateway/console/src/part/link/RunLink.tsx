import { Link } from "wouter-preact";

import type { Schemas } from "../../api/client";

type RunId = NonNullable<Schemas["Run"]["run_id"]>;

interface Props {
  id: RunId;
  repo: string | null; // null: the page finds the run by its id alone
  label?: string; // where the id does not say enough
}

/** The page of a run. A browser takes the segments `.` and `..` out of a path, escaped or not. */
function pathOf(id: string, repo: string | null): string {
  const isSegment = id !== "." && id !== "..";
  const query = new URLSearchParams({ ...(isSegment ? {} : { run_id: id }), ...(repo ? { repo } : {}) }).toString();
  return `/runs/${isSegment ? encodeURIComponent(id) : "-"}${query && `?${query}`}`;
}

/** Leads to the page of a run. */
export function RunLink({ id, repo, label }: Props) {
  return <Link href={pathOf(String(id), repo)}>{label ?? String(id)}</Link>;
}
