import { useQuery } from "@tanstack/preact-query";
import { Link } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { builds } from "../../api/queries";
import type { Column } from "../../part/Table";
import { Time } from "../../part/Time";
import { text } from "../../text";
import { BuildForm } from "./BuildForm";
import { List } from "./List";
import { useListAddress } from "./address";
import { BUILD_STATUSES, WorkState } from "./words";

type Item = Schemas["BuildItem"];

const NAMES = text.evaluations.columns;

/** What is built, in a few words. */
export function sourceText(build: Pick<Item, "source" | "repo" | "ref" | "arxiv_id">): string {
  if (build.arxiv_id) return build.arxiv_id;
  if (build.repo) return build.ref ? `${build.repo} at ${build.ref}` : build.repo;
  return text.evaluations.containerfile;
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
      label={text.evaluations.builds}
      address={address}
      statuses={BUILD_STATUSES}
      query={useQuery(builds(address.status, address.offset))}
      columns={COLUMNS}
      rowKey={(row) => row.build_id}
      empty={text.evaluations.noBuilds}
      add={text.evaluations.newBuild}
      form={<BuildForm />}
    />
  );
}
