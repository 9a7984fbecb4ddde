import { useQuery, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { installations, interests } from "../../api/queries";
import { TextField } from "../../part/form/Field";
import { Form } from "../../part/form/Form";
import { SelectField } from "../../part/form/Select";
import { text } from "../../text";
import type { Budget } from "./words";

type Input = Schemas["BudgetInput"];

const WORDS = text.budgets;
const SCOPES = (["account", "repo", "interest"] as const).map((scope) => [scope, WORDS.scopes[scope]] as const);
const PERIODS = (["day", "week", "month"] as const).map((period) => [period, WORDS.periods[period]] as const);
const ACTIONS = (["warn", "stop"] as const).map((action) => [action, WORDS.actions[action]] as const);
const WEEKDAYS = text.interests.agent.weekdays.map((name, index) => [String(index + 1), name] as const);

/** As the fields have it: numbers are what was typed. */
interface Values {
  scope: Input["scope"];
  repo: string | null;
  interest: string | null;
  period: Input["period"];
  usd: string;
  action: NonNullable<Input["action"]>;
  percents: string;
  maxUsd: string;
  assumeUsd: string; // empty: what was reserved
  zone: string;
  weekStarts: string;
}

function initialOf(budget: Budget | undefined): Values {
  return {
    scope: budget?.scope ?? "account",
    repo: budget?.repo ?? null,
    interest: budget?.interest_id ?? null,
    period: budget?.period ?? "month",
    usd: String(budget?.usd ?? ""),
    action: budget?.action ?? "warn",
    percents: (budget?.warn_percent ?? [50, 80, 100]).join(" "),
    maxUsd: String(budget?.max_usd_per_run ?? 10),
    assumeUsd: String(budget?.assume_usd ?? ""),
    zone: budget?.time_zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    weekStarts: String(budget?.week_starts ?? 1),
  };
}

function bodyOf(values: Values): Input {
  return {
    scope: values.scope,
    ...(values.scope === "repo" ? { repo: values.repo } : {}),
    ...(values.scope === "interest" ? { interest_id: values.interest } : {}),
    period: values.period,
    usd: Number(values.usd),
    action: values.action,
    warn_percent: values.percents.split(/\s+/).filter(Boolean).map(Number),
    max_usd_per_run: Number(values.maxUsd),
    assume_usd: values.assumeUsd ? Number(values.assumeUsd) : null,
    time_zone: values.zone,
    week_starts: Number(values.weekStarts),
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
          value={values.interest}
          values={named}
          nothing={WORDS.choose}
          onChange={(interest) => onChange({ interest })}
          fault={fault("interest_id")}
        />
      )}
      <SelectField label={WORDS.period} value={values.period} values={PERIODS} onChange={(period) => period && onChange({ period })} />
    </>
  );
}

/** Rows of the fields that are texts and numbers. */
const AMOUNTS = [
  ["maxUsd", "max_usd_per_run", WORDS.maxUsdPerRun, WORDS.maxUsdPerRunHint, true],
  ["assumeUsd", "assume_usd", WORDS.assumeUsd, WORDS.assumeUsdHint, false],
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
      />
      <TextField
        label={WORDS.warnPercent}
        hint={WORDS.warnPercentHint}
        value={values.percents}
        onInput={(percents) => onChange({ percents })}
        fault={fault("warn_percent")}
      />
      {AMOUNTS.map(([name, member, label, hint, required]) => (
        <TextField
          key={name}
          label={label}
          hint={hint}
          type="number"
          step="any"
          value={values[name]}
          onInput={(value) => onChange({ [name]: value })}
          required={required}
          fault={fault(member)}
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
          value={values.weekStarts}
          values={WEEKDAYS}
          onChange={(weekStarts) => weekStarts && onChange({ weekStarts })}
        />
      )}
      <TextField
        label={WORDS.zone}
        hint={WORDS.zoneHint}
        value={values.zone}
        onInput={(zone) => onChange({ zone })}
        required
        fault={fault("time_zone")}
      />
    </>
  );
}

/** What a fault can be shown at: the form asks before the fields are drawn. */
const MEMBERS = ["repo", "interest_id", "usd", "warn_percent", "max_usd_per_run", "assume_usd", "time_zone"];

interface Props {
  budget?: Budget; // that is changed; without: a new one
  onSaved: () => void;
}

export function BudgetForm({ budget, onSaved }: Props) {
  const [values, setValues] = useState(() => initialOf(budget));
  const client = useQueryClient();
  const onChange = (change: Partial<Values>) => setValues({ ...values, ...change });
  const onDone = async () => {
    await client.invalidateQueries({ queryKey: ["budgets"] });
    onSaved();
  };
  return (
    <Form submit={text.save} send={() => answer(api.PUT("/api/v1.0/fleet/budgets", { body: bodyOf(values) }))} onDone={onDone}>
      {(fault) => {
        const faults = new Map(MEMBERS.map((member) => [member, fault(member)]));
        const fields = { values, onChange, fault: (member: string) => faults.get(member) };
        return (
          <>
            {!budget && <TargetFields {...fields} />}
            <LimitFields {...fields} />
            <CalendarFields {...fields} />
          </>
        );
      }}
    </Form>
  );
}
