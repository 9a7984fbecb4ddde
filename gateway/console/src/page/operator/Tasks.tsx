import { useQuery } from "@tanstack/preact-query";
import { useState } from "preact/hooks";
import { useSearchParams } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { operatorTasks, type TaskFilter } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/form/Button";
import { Empty } from "../../part/Empty";
import { Pager } from "../../part/Pager";
import { State, type Tone } from "../../part/State";
import { Table, type Column } from "../../part/Table";
import { Tabs } from "../../part/Tabs";
import { Time, Unknown } from "../../part/Time";
import { text } from "../../text";
import { Change, type Choice } from "./Change";
import { addressOf, filterOf, STATUSES } from "./filter";
import { FilterForm } from "./FilterForm";
import { LeftOut } from "./LeftOut";
import { operatorText } from "./text";

type Task = Schemas["OperatorTask"];

const ROWS = 25;
const NAMES = operatorText.taskColumns;
const TYPES = [
  ["task", operatorText.tasks],
  ["event", operatorText.events],
] as const;
const FILTERS = [["", operatorText.all], ...STATUSES.map((status) => [status, status] as const)] as const;
const TONES: Readonly<Record<Task["status"], Tone>> = {
  pending: "waits",
  running: "running",
  completed: "done",
  failed: "failed",
  cancelled: "off",
};

const COLUMNS: readonly Column<Task>[] = [
  { name: NAMES.kind, cell: (row) => row.kind },
  { name: NAMES.service, cell: (row) => <span class="line">{row.service}</span> },
  { name: NAMES.status, cell: (row) => <State tone={TONES[row.status]}>{row.status}</State> },
  { name: NAMES.error, cell: (row) => <span class="wrap">{row.error ?? row.message ?? ""}</span> },
  { name: NAMES.account, cell: (row) => (row.account_id ? <code title={row.account_id}>{row.account_id.slice(-12)}</code> : <Unknown />) },
  { name: NAMES.created, cell: (row) => <Time at={row.created_at} /> },
];

/** What can be done with all that the filter shows, and with one row. */
function useChoice(filter: TaskFilter) {
  const [choice, setChoice] = useState<Choice | null>(null);
  const canChange = filter.status === "failed" || filter.type === "event";
  const all = (isDrop: boolean) => setChoice({ filter, isDrop });
  const one = (task: Task, isDrop: boolean) => setChoice({ task, isDrop });
  return { choice, close: () => setChoice(null), canChange, all, one };
}

/** Tasks and dead events of all accounts, by a filter, and what an operator does with them. */
export function Tasks() {
  const [address, setAddress] = useSearchParams();
  const filter = filterOf(address);
  const offset = Number(address.get("offset") ?? 0) || 0;
  const { choice, close, canChange, all, one } = useChoice(filter);
  const show = (change: Partial<TaskFilter>) => setAddress(addressOf({ ...filter, ...change }));
  const actions: Column<Task> = {
    name: text.actions,
    cell: (row) =>
      row.is_dead && (
        <span class="actions">
          <Button onClick={() => one(row, false)}>{operatorText.retry}</Button>
          <Button kind="quiet" onClick={() => one(row, true)}>
            {operatorText.drop}
          </Button>
        </span>
      ),
  };
  return (
    <section class="group">
      <header class="group-head">
        <h2>{operatorText.work}</h2>
        <Tabs label={operatorText.type} values={TYPES} value={filter.type} onChange={(type) => show({ type, status: "failed" })} />
      </header>
      {filter.type === "task" && (
        <Tabs
          label={NAMES.status}
          values={FILTERS}
          value={filter.status ?? ""}
          onChange={(status) => show({ status: status === "" ? undefined : status })}
        />
      )}
      <FilterForm key={address.toString()} filter={filter} onChange={show} />
      <Answer query={useQuery(operatorTasks(filter, offset))}>
        {({ items, total, leftOut }) => (
          <>
            <LeftOut services={leftOut} />
            {total > 0 ? (
              <>
                {canChange && (
                  <div class="actions">
                    <Button onClick={() => all(false)}>{operatorText.retryAll}</Button>
                    <Button onClick={() => all(true)}>{operatorText.dropAll}</Button>
                  </div>
                )}
                <Table
                  label={operatorText.work}
                  columns={[...COLUMNS, actions]}
                  rows={items}
                  rowKey={(row) => `${row.service} ${row.task_id}`}
                />
                <Pager
                  offset={offset}
                  size={ROWS}
                  total={Math.min(total, 1000)}
                  onMove={(next) => setAddress({ ...addressOf(filter), offset: String(next) })}
                />
              </>
            ) : (
              <Empty>{filter.status === "failed" ? operatorText.noneFailed : operatorText.none}</Empty>
            )}
          </>
        )}
      </Answer>
      {choice && <Change choice={choice} onClose={close} />}
    </section>
  );
}
