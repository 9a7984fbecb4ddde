import { useQuery } from "@tanstack/preact-query";
import { Link } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { builds } from "../../api/queries";
import type { Column } from "../../part/Table";
import { Time } from "../../part/Time";
import { BuildForm } from "./BuildForm";
import { List } from "./List";
import { useListAddress } from "./address";
import { evaluationsText } from "./text";
import { BUILD_STATUSES, WorkState } from "./words";

type Item = Schemas["BuildItem"];

const NAMES = evaluationsText.columns;

/** What is built, in a few words. */
export function sourceText(build: Pick<Item, "source" | "repo" | "ref" | "arxiv_id">): string {
  if (build.arxiv_id) return build.arxiv_id;
  if (build.repo) return build.ref ? `${build.repo} at ${build.ref}` : build.repo;
  return evaluationsText.containerfile;
}

const COLUMNS: readonly Column<Item>[] = [
  { name: NAMES.build, cell: (row) => <Link href={`/evaluations/builds/${row.build_id}`}>{sourceText(row)}</Link> },
  { name: NAMES.status, cell: (row) => <WorkState status={row.status} /> },
  { name: NAMES.error, cell: (row) => row.error?.message ?? "" },
  { name: NAMES.created, cell: (row) => <Time at={row.created_at} /> },
];

export function Builds() {
  const address = useListAddress("builds", BUILD_STATUSES);
  return (
    <List
      label={evaluationsText.builds}
      address={address}
      statuses={BUILD_STATUSES}
      query={useQuery(builds(address.status, address.offset))}
      columns={COLUMNS}
      rowKey={(row) => row.build_id}
      empty={evaluationsText.noBuilds}
      add={evaluationsText.newBuild}
      form={<BuildForm />}
    />
  );
}
