import { useQuery, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { count, dollars, percent } from "../../api/format";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/form/Button";
import { Confirm } from "../../part/form/Confirm";
import { Dialog } from "../../part/Dialog";
import { Fact, Facts } from "../../part/Facts";
import { Measures } from "../../part/Measures";
import { useScope } from "../../part/scope";
import { Table, type Column } from "../../part/Table";
import { Time, Unknown } from "../../part/Time";
import { BudgetForm } from "./BudgetForm";
import { budgetHistory } from "./queries";
import { budgetsText } from "./text";
import { BudgetState, Usd, useTarget, type Budget } from "./words";

type Period = Schemas["BudgetPeriod"];

const WORDS = budgetsText;
const FACTS = WORDS.facts;
const PARTS = WORDS.parts;

const HISTORY: readonly Column<Period>[] = [
  { name: WORDS.columns.began, cell: (row) => <Time at={row.starts_at} /> },
  { name: WORDS.columns.spent, figure: true, cell: (row) => dollars(row.spent_usd) },
  { name: WORDS.columns.share, figure: true, cell: (row) => percent(row.percent / 100) },
  { name: WORDS.columns.runs, figure: true, cell: (row) => count(row.runs) },
  { name: WORDS.columns.refused, figure: true, cell: (row) => count(row.refused) },
];

function History({ id }: { id: string }) {
  return (
    <Answer query={useQuery(budgetHistory(id))}>
      {({ items }) =>
        items.length > 0 ? (
          <Table label={WORDS.history} columns={HISTORY} rows={items} rowKey={(row) => row.starts_at} />
        ) : (
          <p class="quiet">{WORDS.noHistory}</p>
        )
      }
    </Answer>
  );
}

/** How sure what was spent is: a run told it, its tokens say it, or it had to be assumed. Parts that are nothing are left out. */
function Spent({ state, usd }: { state: Budget["state"]; usd: number }) {
  const parts = [
    [PARTS.reported, state.reported_usd],
    [PARTS.estimated, state.estimated_usd],
    [PARTS.assumed, state.assumed_usd],
    [PARTS.reserved, state.reserved_usd],
  ] as const;
  const spent = parts.filter(([name, value]) => name === PARTS.reported || value);
  const measures = spent.map(([name, value = 0]) => ({ name, value: Math.min(value, usd), text: dollars(value) }));
  return <Measures label={FACTS.spent} full={usd} measures={measures} />;
}

function Standing({ budget }: { budget: Budget }) {
  const { state } = budget;
  return (
    <>
      <p>
        <BudgetState budget={budget} />{" "}
        {typeof budget.usd === "number" && typeof state.percent === "number" && (
          <span class="quiet">{WORDS.shareOf(percent(state.percent / 100), dollars(budget.usd))}</span>
        )}
      </p>
      <Spent state={state} usd={budget.usd ?? 0} />
      <Facts>
        <Fact name={FACTS.remaining}>
          <Usd value={state.remaining_usd} />
        </Fact>
        <Fact name={FACTS.forecast}>
          <Usd value={state.forecast_usd} />
        </Fact>
        <Fact name={FACTS.ends}>
          <Time at={state.ends_at} />
        </Fact>
        <Fact name={FACTS.runs}>{count(state.runs ?? 0)}</Fact>
        {state.runs_unknown ? <Fact name={FACTS.unknown}>{count(state.runs_unknown)}</Fact> : null}
        {state.refused ? <Fact name={FACTS.refused}>{count(state.refused)}</Fact> : null}
      </Facts>
    </>
  );
}

function Limits({ budget }: { budget: Budget }) {
  return (
    <Facts>
      <Fact name={WORDS.usd}>
        <Usd value={budget.usd} /> {WORDS.periods[budget.period]}
      </Fact>
      <Fact name={WORDS.action}>{budget.action ? WORDS.actions[budget.action] : <Unknown />}</Fact>
      <Fact name={WORDS.warnPercent}>{budget.warn_percent?.map((share) => `${share} %`).join(", ")}</Fact>
      <Fact name={FACTS.maxUsdPerRun}>
        <Usd value={budget.max_usd_per_run} />
      </Fact>
      <Fact name={WORDS.zone}>{budget.time_zone}</Fact>
    </Facts>
  );
}

type Open = "read" | "edit" | "remove";

interface ReadProps {
  budget: Budget;
  onOpen: (open: Open) => void;
}

function Read({ budget, onOpen }: ReadProps) {
  const canWrite = useScope("budgets:write");
  return (
    <div class="dialog-text">
      <Standing budget={budget} />
      <h3>{WORDS.limits}</h3>
      <Limits budget={budget} />
      {canWrite && (
        <div class="actions">
          <Button onClick={() => onOpen("edit")}>{WORDS.edit}</Button>
          <Button kind="quiet" onClick={() => onOpen("remove")}>
            {WORDS.remove}
          </Button>
        </div>
      )}
      <h3>{WORDS.history}</h3>
      <History id={budget.budget_id} />
    </div>
  );
}

interface Props {
  budget: Budget;
  onClose: () => void;
}

function Remove({ budget, onClose }: Props) {
  const client = useQueryClient();
  const params = { path: { budget_id: budget.budget_id } };
  return (
    <Confirm
      title={WORDS.removeTitle(useTarget()(budget))}
      action={WORDS.remove}
      send={() => answer(api.DELETE("/api/v1.0/fleet/budgets/{budget_id}", { params }))}
      onDone={() => client.invalidateQueries({ queryKey: ["budgets"] })}
      onClose={onClose}
    >
      <p>{WORDS.removeText}</p>
    </Confirm>
  );
}

/** A budget: how it stands, what it allows, what was before, and changing or deleting it. */
export function BudgetDialogs({ budget, onClose }: Props) {
  const [open, setOpen] = useState<Open>("read");
  const target = useTarget()(budget);
  if (open === "remove") return <Remove budget={budget} onClose={onClose} />;
  return (
    <Dialog key={open} title={`${target}, ${WORDS.periods[budget.period]}`} onClose={onClose} side>
      {open === "edit" ? <BudgetForm budget={budget} onSaved={() => setOpen("read")} /> : <Read budget={budget} onOpen={setOpen} />}
    </Dialog>
  );
}
