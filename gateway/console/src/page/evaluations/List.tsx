import type { UseQueryResult } from "@tanstack/preact-query";
import type { ComponentChildren } from "preact";

import type { Page } from "../../api/client";
import { spoken } from "../../api/format";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/form/Button";
import { Dialog } from "../../part/Dialog";
import { Empty } from "../../part/Empty";
import { Pager } from "../../part/Pager";
import { useScope } from "../../part/scope";
import { Table, type Column } from "../../part/Table";
import { Tabs } from "../../part/Tabs";
import type { useListAddress } from "./address";
import { evaluationsText } from "./text";

const ROWS = 25;

interface Props<Row, Status extends string> {
  label: string;
  address: ReturnType<typeof useListAddress<Status>>;
  statuses: readonly Status[]; // none: no filter
  query: UseQueryResult<Page<Row[]>>;
  columns: readonly Column<Row>[];
  rowKey: (row: Row) => string;
  empty: string;
  add: string; // what the button for a new one says
  form: ComponentChildren;
}

/** One of the lists of the page, with the form for a new row. */
export function List<Row, Status extends string>(props: Props<Row, Status>) {
  const { label, address, statuses, query, columns, rowKey, empty, add, form } = props;
  const mayAdd = useScope("eval:write");
  const filters = [["", evaluationsText.all], ...statuses.map((status) => [status, spoken(status)] as const)] as const;
  return (
    <section class="group">
      <header class="group-head">
        <h2>{label}</h2>
        {mayAdd && (
          <Button kind="main" onClick={address.openNew}>
            {add}
          </Button>
        )}
      </header>
      {statuses.length > 0 && (
        <Tabs label={evaluationsText.status} values={filters} value={address.status ?? ""} onChange={address.setStatus} />
      )}
      <Answer query={query}>
        {({ items, total }) =>
          total > 0 ? (
            <>
              <Table label={label} columns={columns} rows={items} rowKey={rowKey} />
              <Pager offset={address.offset} size={ROWS} total={total} onMove={address.setOffset} />
            </>
          ) : (
            <Empty>{address.status ? evaluationsText.none : empty}</Empty>
          )
        }
      </Answer>
      {mayAdd && address.isNew && (
        <Dialog title={add} onClose={address.closeNew}>
          {form}
        </Dialog>
      )}
    </section>
  );
}
