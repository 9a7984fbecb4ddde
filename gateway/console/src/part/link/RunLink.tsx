import { Link } from "wouter-preact";

import type { Schemas } from "../../api/client";

type RunId = NonNullable<Schemas["Run"]["run_id"]>;

interface Props {
  id: RunId;
  repo: string | null; // null: the page finds the run by its id alone
  label?: string; // where the id does not say enough
}

/** Leads to the page of a run. */
export function RunLink({ id, repo, label }: Props) {
  const query = repo ? `?repo=${encodeURIComponent(repo)}` : "";
  return <Link href={`/runs/${encodeURIComponent(String(id))}${query}`}>{label ?? String(id)}</Link>;
}
