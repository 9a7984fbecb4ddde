import { useQuery, useQueryClient } from "@tanstack/preact-query";

import { answer, api, type Schemas } from "../../api/client";
import { dollars } from "../../api/format";
import { Problem } from "../../api/problem";
import { installations, interests } from "../../api/queries";
import { zoneHere } from "../../api/zone";
import { Button } from "../../part/form/Button";
import { requireSame, useEdit } from "../../part/form/edit";
import { TextField } from "../../part/form/Field";
import { Form } from "../../part/form/Form";
import { numberOf } from "../../part/form/number";
import { SelectField } from "../../part/form/Select";
import { text } from "../../text";
import { interestsText } from "../interests/text";
import { budgets } from "./queries";
import { budgetsText } from "./text";
import type { Budget } from "./words";

type Input = Schemas["BudgetInput"];

const WORDS = budgetsText;
const SCOPES = (["account", "repo", "interest"] as const).map((scope) => [scope, WORDS.scopes[scope]] as const);
const PERIODS = (["day", "week", "month"] as const).map((period) => [period, WORDS.periods[period]] as const);
const ACTIONS = (["warn", "stop"] as const).map((action) => [action, WORDS.actions[action]] as const);
const WEEKDAYS = interestsText.agent.weekdays.map((name, index) => [String(index + 1), name] as const);

const NAMED = { action: ACTIONS, week_starts: WEEKDAYS };

/** Each under its name in the API, as the fields have it: numbers are what was typed. */
interface Values {
  scope: Input["scope"];
  repo: string | null;
  interest_id: string | null;
  period: Input["period"];
  usd: string;
  action: NonNullable<Input["action"]>;
  warn_percent: string;
  max_usd_per_run: string;
  assume_usd: string; // empty: what was reserved
  time_zone: string;
  week_starts: string;
}

function initialOf(budget: Budget | undefined): Values {
  return {
    scope: budget?.scope ?? "account",
    repo: budget?.repo ?? null,
    interest_id: budget?.interest_id ?? null,
    period: budget?.period ?? "month",
    usd: String(budget?.usd ?? ""),
    action: budget?.action ?? "warn",
    warn_percent: (budget?.warn_percent ?? [50, 80, 100]).join(" "),
    max_usd_per_run: String(budget?.max_usd_per_run ?? 10),
    assume_usd: String(budget?.assume_usd ?? ""),
    time_zone: budget?.time_zone ?? zoneHere(),
    week_starts: String(budget?.week_starts ?? 1),
  };
}

function bodyOf(values: Values): Input {
  return {
    scope: values.scope,
    ...(values.scope === "repo" ? { repo: values.repo } : {}),
    ...(values.scope === "interest" ? { interest_id: values.interest_id } : {}),
    period: values.period,
    usd: numberOf(values.usd, "usd"),
    action: values.action,
    warn_percent: values.warn_percent
      .split(/\s+/)
      .filter(Boolean)
      .map((share) => numberOf(share, "warn_percent")),
    max_usd_per_run: numberOf(values.max_usd_per_run, "max_usd_per_run"),
    assume_usd: values.assume_usd ? numberOf(values.assume_usd, "assume_usd") : null,
    time_zone: values.time_zone,
    week_starts: Number(values.week_starts),
  };
}

interface FieldsProps {
  values: Values;
  onChange: (change: Partial<Values>) => void;
  fault: (field: string) => string | undefined;
}

/** What a new budget is about; this cannot be changed. */
function TargetFields({ values, onChange, fault }: FieldsProps) {
  const repos = [...new Set((useQuery(installations).data?.items ?? []).map(({ repo }) => repo))];
  const named = (useQuery(interests).data?.items ?? []).map(({ id, name }) => [id, name] as const);
  return (
    <>
      <SelectField label={WORDS.scope} value={values.scope} values={SCOPES} onChange={(scope) => scope && onChange({ scope })} />
      {values.scope === "repo" && (
        <SelectField
          label={WORDS.scopes.repo}
          value={values.repo}
          values={repos.map((repo) => [repo, repo] as const)}
          nothing={WORDS.choose}
          onChange={(repo) => onChange({ repo })}
          fault={fault("repo")}
        />
      )}
      {values.scope === "interest" && (
        <SelectField
          label={WORDS.scopes.interest}
          value={values.interest_id}
          values={named}
          nothing={WORDS.choose}
          onChange={(interest_id) => onChange({ interest_id })}
          fault={fault("interest_id")}
        />
      )}
      <SelectField label={WORDS.period} value={values.period} values={PERIODS} onChange={(period) => period && onChange({ period })} />
    </>
  );
}

/** Rows of the fields that are texts and numbers. */
const AMOUNTS = [
  ["max_usd_per_run", WORDS.maxUsdPerRun, WORDS.maxUsdPerRunHint, true],
  ["assume_usd", WORDS.assumeUsd, WORDS.assumeUsdHint, false],
] as const;

function LimitFields({ values, onChange, fault }: FieldsProps) {
  return (
    <>
      <TextField
        label={WORDS.amount}
        type="number"
        step="any"
        value={values.usd}
        onInput={(usd) => onChange({ usd })}
        required
        fault={fault("usd")}
      />
      <SelectField
        label={WORDS.action}
        hint={WORDS.actionHint}
        value={values.action}
        values={ACTIONS}
        onChange={(action) => action && onChange({ action })}
        fault={fault("action")}
      />
      <TextField
        label={WORDS.warnPercent}
        hint={WORDS.warnPercentHint}
        value={values.warn_percent}
        onInput={(warn_percent) => onChange({ warn_percent })}
        fault={fault("warn_percent")}
      />
      {AMOUNTS.map(([name, label, hint, required]) => (
        <TextField
          key={name}
          label={label}
          hint={hint}
          type="number"
          step="any"
          value={values[name]}
          onInput={(value) => onChange({ [name]: value })}
          required={required}
          fault={fault(name)}
        />
      ))}
    </>
  );
}

function CalendarFields({ values, onChange, fault }: FieldsProps) {
  return (
    <>
      {values.period === "week" && (
        <SelectField
          label={WORDS.weekStarts}
          value={values.week_starts}
          values={WEEKDAYS}
          onChange={(week_starts) => week_starts && onChange({ week_starts })}
          fault={fault("week_starts")}
        />
      )}
      <TextField
        label={WORDS.zone}
        hint={WORDS.zoneHint}
        value={values.time_zone}
        onInput={(time_zone) => onChange({ time_zone })}
        required
        fault={fault("time_zone")}
      />
    </>
  );
}

/** The one that a new budget would replace. */
function sameAs({ scope, repo, interest_id, period }: Values, all: readonly Budget[]): Budget | undefined {
  return all.find(
    (each) =>
      each.scope === scope &&
      each.period === period &&
      (scope !== "repo" || each.repo?.toLowerCase() === repo?.toLowerCase()) &&
      (scope !== "interest" || each.interest_id === interest_id),
  );
}

function Existing({ budget: { usd, period, state }, onOpen }: { budget: Budget; onOpen: () => void }) {
  const isKnown = typeof usd === "number" && typeof state.spent_usd === "number";
  const taken = (state.spent_usd ?? 0) + (state.reserved_usd ?? 0);
  return (
    <>
      <p class="warm" role="status">
        {isKnown ? WORDS.exists(dollars(usd), WORDS.periods[period], dollars(taken)) : WORDS.hasLimit}
      </p>
      <div class="actions">
        <Button onClick={onOpen}>{WORDS.openExisting}</Button>
      </div>
    </>
  );
}

/** What a fault can be shown at: the form asks before the fields are drawn. */
const MEMBERS = ["repo", "interest_id", "usd", "action", "warn_percent", "max_usd_per_run", "assume_usd", "time_zone", "week_starts"];

/** Throws a problem where saving would undo what somebody else has saved since this was read: all members are sent. */
function requireUnchanged(budget: Budget | undefined, values: Values, items: readonly Budget[]): void {
  const now = budget ? items.find(({ budget_id }) => budget_id === budget.budget_id) : sameAs(values, items);
  if (!budget && now) throw new Problem(409, WORDS.existsMeanwhile, "", null);
  if (budget && !now) throw new Problem(404, WORDS.goneMeanwhile, "", null);
  requireSame(initialOf(budget), initialOf(now ?? budget));
}

interface Props {
  budget?: Budget; // that is changed; without: a new one
  onSaved: () => void;
  onOpen?: (budget: Budget) => void; // the one that there is already
}

export function BudgetForm({ budget, onSaved, onOpen }: Props) {
  const edit = useEdit(initialOf(budget), bodyOf, NAMED);
  const { values, set: onChange } = edit;
  const client = useQueryClient();
  const known = useQuery(budgets).data?.items ?? [];
  const existing = budget ? undefined : sameAs(values, known);
  const reload = () => client.invalidateQueries({ queryKey: budgets.queryKey });
  const send = async () => {
    const body = bodyOf(values);
    requireUnchanged(budget, values, (await client.query({ ...budgets, staleTime: 0 })).items);
    return answer(api.PUT("/api/v1.0/fleet/budgets", { body }));
  };
  const onDone = async () => {
    await reload();
    onSaved();
  };
  return (
    <Form submit={text.save} send={send} onDone={onDone} isIncomplete={existing !== undefined} edit={budget && { ...edit, reload }}>
      {(fault) => {
        const faults = new Map(MEMBERS.map((member) => [member, fault(member)]));
        const fields = { values, onChange, fault: (member: string) => faults.get(member) };
        return (
          <>
            {!budget && <TargetFields {...fields} />}
            {existing ? (
              <Existing budget={existing} onOpen={() => onOpen?.(existing)} />
            ) : (
              <>
                <LimitFields {...fields} />
                <CalendarFields {...fields} />
              </>
            )}
          </>
        );
      }}
    </Form>
  );
}
