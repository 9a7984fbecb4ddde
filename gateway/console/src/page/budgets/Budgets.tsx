import { useQuery } from "@tanstack/preact-query";
import { Link, useSearchParams } from "wouter-preact";

import { percent } from "../../api/format";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/form/Button";
import { Dialog } from "../../part/Dialog";
import { Empty } from "../../part/Empty";
import { Page } from "../../part/Page";
import { useScope } from "../../part/scope";
import { State } from "../../part/State";
import { Table } from "../../part/Table";
import { Time, Unknown } from "../../part/Time";
import { BudgetDialogs } from "./Budget";
import { BudgetForm } from "./BudgetForm";
import { budgets } from "./queries";
import { budgetsText } from "./text";
import { BudgetState, Usd, useTarget, type Budget } from "./words";

const WORDS = budgetsText;
const NAMES = WORDS.columns;

/** Repositories whose runs start without asking: no budget stops them. */
function Unguarded({ rows }: { rows: readonly Budget[] }) {
  const repos = [...new Set(rows.filter(({ action }) => action === "stop").flatMap(({ state }) => state.unguarded ?? []))].sort();
  if (repos.length === 0) return null;
  return (
    <p>
      <State tone="waits">{WORDS.unguarded(repos.join(", "))}</State> <Link href="/connect">{WORDS.setUpAgain}</Link>
    </p>
  );
}

function BudgetTable({ rows }: { rows: readonly Budget[] }) {
  const targetOf = useTarget();
  return (
    <Table
      label={WORDS.title}
      rows={rows}
      rowKey={(row) => row.budget_id}
      columns={[
        { name: NAMES.target, cell: (row) => <Link href={`/agents/budgets?budget=${row.budget_id}`}>{targetOf(row)}</Link> },
        { name: NAMES.period, cell: (row) => <span class="line">{WORDS.periods[row.period]}</span> },
        { name: NAMES.usd, figure: true, cell: (row) => <Usd value={row.usd} /> },
        { name: NAMES.spent, figure: true, cell: (row) => <Usd value={row.state.spent_usd} /> },
        {
          name: NAMES.share,
          figure: true,
          cell: ({ state }) => (state.percent === undefined ? <Unknown /> : percent(state.percent / 100)),
        },
        { name: NAMES.forecast, figure: true, cell: (row) => <Usd value={row.state.forecast_usd} /> },
        { name: NAMES.state, cell: (row) => <BudgetState budget={row} /> },
        { name: NAMES.ends, cell: (row) => <Time at={row.state.ends_at} /> },
      ]}
    />
  );
}

/** What agents may cost: how each budget stands, and its limits. */
export default function Budgets() {
  const [address, setAddress] = useSearchParams();
  const canWrite = useScope("budgets:write");
  const query = useQuery(budgets);
  const shown = query.data?.items.find(({ budget_id }) => budget_id === address.get("budget"));
  const add = canWrite && (
    <Button kind="main" onClick={() => setAddress({ new: "1" })}>
      {WORDS.add}
    </Button>
  );
  const close = () => setAddress({});
  return (
    <Page title={WORDS.title} actions={add} wide>
      <p class="read">{WORDS.lead}</p>
      <Answer query={query}>
        {({ items }) => (
          <section class="group">
            <Unguarded rows={items} />
            {items.length > 0 ? <BudgetTable rows={items} /> : <Empty>{WORDS.empty}</Empty>}
          </section>
        )}
      </Answer>
      {shown && <BudgetDialogs budget={shown} onClose={close} key={shown.budget_id} />}
      {address.get("new") && (
        <Dialog title={WORDS.add} onClose={close}>
          <BudgetForm onSaved={close} onOpen={({ budget_id }) => setAddress({ budget: budget_id })} />
        </Dialog>
      )}
    </Page>
  );
}
