/** What a key was used for, so that scopes that it does not need are seen. */
import { queryOptions, useQuery } from "@tanstack/preact-query";

import { answer, api, type Schemas } from "../../api/client";
import { count } from "../../api/format";
import { Answer } from "../../part/Answer";
import { Chart } from "../../part/Chart";
import { Dialog } from "../../part/Dialog";
import { Table, type Column } from "../../part/Table";
import { settingsText } from "./text";

const words = settingsText;
const DAYS = 90; // that are kept

const use = (key_id: string) =>
  queryOptions({
    queryKey: ["keys", key_id, "use"],
    queryFn: () => answer(api.GET("/api/v1.0/account/api-keys/{key_id}/usage", { params: { path: { key_id }, query: { limit: DAYS } } })),
  });

interface Count {
  family: string;
  status: number;
  requests: number;
}

const COLUMNS: readonly Column<Count>[] = [
  { name: words.useColumns.family, cell: (row) => <code>{row.family}</code> },
  { name: words.useColumns.status, figure: true, cell: (row) => row.status },
  { name: words.useColumns.requests, figure: true, cell: (row) => count(row.requests) },
];

const keyOf = ({ family, status }: Count) => `${family} ${status}`;

/** The sums over days, the most frequent first. */
function summed(counts: readonly Count[]): Count[] {
  const sums = new Map<string, Count>();
  for (const each of counts) {
    const before = sums.get(keyOf(each))?.requests ?? 0;
    sums.set(keyOf(each), { ...each, requests: before + each.requests });
  }
  return [...sums.values()].sort((one, other) => other.requests - one.requests);
}

export function KeyUse({ row, onClose }: { row: Schemas["ApiKey"]; onClose: () => void }) {
  return (
    <Dialog title={words.useTitle(row.name)} side onClose={onClose}>
      <Answer query={useQuery(use(row.id))}>
        {(days) =>
          days.length === 0 ? (
            <p class="quiet">{words.unused}</p>
          ) : (
            <>
              <Chart
                title={words.useDaily}
                points={days.map(({ day, requests }) => ({ name: day, value: requests })).reverse()}
                format={count}
              />
              <Table label={words.use} columns={COLUMNS} rows={summed(days.flatMap(({ counts }) => counts))} rowKey={keyOf} />
            </>
          )
        }
      </Answer>
    </Dialog>
  );
}
