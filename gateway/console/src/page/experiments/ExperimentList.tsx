import type { UseQueryResult } from "@tanstack/preact-query";

import type { Page, Schemas } from "../../api/client";
import { Answer } from "../../part/Answer";
import { Empty } from "../../part/Empty";
import { Pager } from "../../part/Pager";
import { Table, type Column } from "../../part/Table";
import { ROWS } from "./queries";
import { experimentsText } from "./text";

interface Props {
  query: UseQueryResult<Page<readonly Schemas["Experiment"][]>>;
  offset: number;
  columns: readonly Column<Schemas["Experiment"]>[];
  empty: string;
  onMove: (offset: number) => void;
}

/** A page of experiments. */
export function ExperimentList({ query, offset, columns, empty, onMove }: Props) {
  return (
    <Answer query={query}>
      {({ items, total }) =>
        total > 0 ? (
          <>
            <Table label={experimentsText.title} columns={columns} rows={items} rowKey={(row) => row.id} />
            <Pager offset={offset} size={ROWS} total={total} onMove={onMove} />
          </>
        ) : (
          <Empty>{empty}</Empty>
        )
      }
    </Answer>
  );
}
