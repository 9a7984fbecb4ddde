import { useQuery } from "@tanstack/preact-query";
import { Link, useLocation, useSearchParams } from "wouter-preact";

import { count } from "../../api/format";
import type { Schemas } from "../../api/client";
import { INTEREST_ROWS, interestPage } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/form/Button";
import { Dialog } from "../../part/Dialog";
import { Empty } from "../../part/Empty";
import { useOffset } from "../../part/offset";
import { Page } from "../../part/Page";
import { Pager } from "../../part/Pager";
import { May } from "../../part/scope";
import { Table, type Column } from "../../part/Table";
import { Time } from "../../part/Time";
import { InterestForm } from "./InterestForm";
import { Reliability } from "./Reliability";
import { InterestState } from "./states";
import { interestsText } from "./text";

const NAMES = interestsText.columns;

const COLUMNS: readonly Column<Schemas["Interest"]>[] = [
  { name: NAMES.name, cell: (row) => <Link href={`/interests/${row.id}`}>{row.name}</Link> },
  { name: NAMES.state, cell: (row) => <InterestState interest={row} /> },
  { name: NAMES.pool, figure: true, cell: (row) => count(row.pool_size) },
  { name: NAMES.daily, figure: true, cell: (row) => count(row.daily_count) },
  { name: NAMES.last, cell: (row) => <Time at={row.last_recommendation_at} /> },
];

export default function Interests() {
  const [search, setSearch] = useSearchParams();
  const [, navigate] = useLocation();
  const isNew = search.get("new") === "1";
  const [offset, move] = useOffset("offset");
  return (
    <Page
      title={interestsText.title}
      wide
      actions={
        <May scope="interests:write">
          <Button kind="main" onClick={() => setSearch({ new: "1" })}>
            {interestsText.add}
          </Button>
        </May>
      }
    >
      <Answer query={useQuery(interestPage(offset))}>
        {({ items, total }) =>
          total > 0 ? (
            <>
              <Table label={interestsText.title} columns={COLUMNS} rows={items} rowKey={(row) => row.id} />
              <Pager offset={offset} size={INTEREST_ROWS} total={total} onMove={move} />
              <Reliability />
            </>
          ) : (
            <Empty>{interestsText.empty}</Empty>
          )
        }
      </Answer>
      {isNew && (
        <May scope="interests:write">
          <Dialog title={interestsText.add} onClose={() => setSearch({})}>
            <InterestForm onDone={({ id }) => navigate(`/interests/${id}`)} />
          </Dialog>
        </May>
      )}
    </Page>
  );
}
