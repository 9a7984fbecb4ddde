/** What the results of an experiment say: the verdict in words, and each effect with its interval. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { anything, change, count, figure } from "../../api/format";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/form/Button";
import { Dialog } from "../../part/Dialog";
import { Fault } from "../../part/Fault";
import { May, useScope } from "../../part/scope";
import { State, type Tone } from "../../part/State";
import { Table } from "../../part/Table";
import { Time, Unknown } from "../../part/Time";
import { Interval, type Sign } from "./Interval";
import { results } from "./queries";
import { ResultsForm } from "./ResultsForm";
import { experimentsText } from "./text";
import { isDecided } from "./words";

type Analysis = Schemas["Analysis"];
type Detail = Schemas["ExperimentDetail"];
type Metric = Analysis["metrics"][number];

const words = experimentsText.results;

const TONES: Readonly<Record<Analysis["verdict"], Tone>> = {
  better: "done",
  worse: "failed",
  equal: "off",
  unclear: "waits",
  too_early: "running",
  no_data: "off",
  invalid: "failed",
};

/** The effect of an arm on a metric: relative to the control arm where that has a meaning. */
interface Effect {
  metric: Metric;
  comparison: Metric["comparisons"][number];
  isRelative: boolean;
  value: number | null;
  low: number | null;
  high: number | null;
}

function effectsOf({ metrics }: Analysis): Effect[] {
  return metrics.flatMap((metric) =>
    metric.comparisons.map((comparison) => {
      const { effect, low, high, relative, relative_low, relative_high } = comparison;
      return relative !== null && relative_low !== null && relative_high !== null
        ? { metric, comparison, isRelative: true, value: relative, low: relative_low, high: relative_high }
        : { metric, comparison, isRelative: false, value: effect, low, high };
    }),
  );
}

/** Effects of one metric are compared with each other; metrics have their own units. */
function furthestOf(effects: readonly Effect[], { metric }: Effect): number {
  const ofMetric = effects.filter((each) => each.metric === metric);
  return Math.max(...ofMetric.flatMap(({ low, high, value }) => [low ?? 0, high ?? 0, value ?? 0].map(Math.abs)));
}

const GUARDS = { safe: "done", at_risk: "waits", harmed: "failed" } as const;

/** What a metric is for, and of a guardrail what it says of the arm. */
function Role({ metric, comparison }: Effect) {
  const guard = comparison.guardrail;
  return guard ? <State tone={GUARDS[guard]}>{words.guardrails[guard]}</State> : <span class="quiet">{metric.role}</span>;
}

/** Whether the whole interval is on the side that the metric is to go to, or on the other. */
function signOf({ metric, low, high }: Effect): Sign {
  if (low === null || high === null || (low <= 0 && high >= 0)) return "unclear";
  const isGain = metric.goal === "increase" ? low > 0 : high < 0;
  return isGain ? "better" : "worse";
}

function unitsOf({ metric, comparison }: Effect): string | null {
  const n = metric.arms.find(({ arm }) => arm === comparison.arm)?.n;
  return typeof n === "number" ? count(n) : null;
}

function EffectText({ effect }: { effect: Effect }) {
  const { value, low, high, isRelative, comparison } = effect;
  if (value === null) return <span class="quiet">{comparison.invalid ?? <Unknown />}</span>;
  const write = isRelative ? change : figure;
  return (
    <>
      {write(value)} {low !== null && high !== null && <span class="quiet">{words.range(write(low), write(high))}</span>}
    </>
  );
}

function Effects({ analysis }: { analysis: Analysis }) {
  const effects = effectsOf(analysis);
  return (
    <Table
      label={words.effects}
      rows={effects}
      rowKey={({ metric, comparison }) => `${metric.key} ${comparison.arm}`}
      columns={[
        {
          name: words.metric,
          cell: (row) => (
            <>
              {row.metric.key} <Role {...row} />
            </>
          ),
        },
        { name: words.arm, cell: ({ comparison }) => comparison.arm },
        { name: words.units, figure: true, cell: (row) => unitsOf(row) ?? <Unknown /> },
        { name: words.effect, figure: true, cell: (row) => <EffectText effect={row} /> },
        {
          name: words.interval(anything(100 * (1 - analysis.alpha))),
          cell: (row) =>
            row.value !== null &&
            row.low !== null &&
            row.high !== null && (
              <Interval value={row.value} low={row.low} high={row.high} furthest={furthestOf(effects, row)} sign={signOf(row)} />
            ),
        },
      ]}
    />
  );
}

/** The outcome that an advice proposes; null: none yet. */
const PROPOSED = { ship: "ship", stop: "abandon", iterate: "iterate", wait: null } as const;

/** Takes what is proposed as the outcome, until somebody has decided. */
function Acceptance({ detail, analysis }: { detail: Detail; analysis: Analysis }) {
  const client = useQueryClient();
  const outcome = PROPOSED[analysis.advice];
  const accepting = useMutation({
    mutationFn: () =>
      answer(api.PUT("/api/v1.0/experiments/{experiment_id}", { params: { path: { experiment_id: detail.id } }, body: { outcome } })),
    onSuccess: () => client.invalidateQueries({ queryKey: ["experiments"] }),
  });
  if (outcome === null || isDecided(detail)) return null;
  return (
    <May scope="experiments:write">
      <Button disabled={accepting.isPending} onClick={() => accepting.mutate()}>
        {words.accept(outcome)}
      </Button>
      {accepting.error && <Fault error={accepting.error} />}
    </May>
  );
}

function Content({ detail, analysis }: { detail: Detail; analysis: Analysis }) {
  return (
    <>
      <p>
        <State tone={TONES[analysis.verdict]}>{analysis.text}</State>
      </p>
      <p class="small quiet">
        {analysis.at && (
          <>
            <Time at={analysis.at} /> ·{" "}
          </>
        )}
        {words.advice(analysis.advice)}
      </p>
      <Acceptance detail={detail} analysis={analysis} />
      <Effects analysis={analysis} />
      {analysis.warnings.length > 0 && (
        <ul class="findings">
          {analysis.warnings.map((warning) => (
            <li key={`${warning.code} ${warning.metric ?? ""}`}>
              <State tone="waits">{warning.text}</State>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** What was said before there was as much to go by. */
function Earlier({ analyses }: { analyses: readonly Analysis[] }) {
  if (analyses.length === 0) return null;
  return (
    <details>
      <summary class="small">{words.earlier(analyses.length)}</summary>
      <ol class="timeline">
        {analyses.map((analysis) => (
          <li key={analysis.analysis_id}>
            <span class="quiet">{analysis.at && <Time at={analysis.at} />} ·</span> {analysis.text}
          </li>
        ))}
      </ol>
    </details>
  );
}

export function Results({ detail }: { detail: Detail }) {
  const [isOpen, setOpen] = useState(false);
  const mayAdd = useScope("experiments:write");
  return (
    <section class="group">
      <h2>{words.title}</h2>
      <Answer query={useQuery(results(detail.id))}>
        {([newest, ...earlier]) =>
          newest ? (
            <>
              <Content detail={detail} analysis={newest} />
              <Earlier analyses={earlier} />
            </>
          ) : (
            <p class="quiet">{words.none}</p>
          )
        }
      </Answer>
      {mayAdd && <Button onClick={() => setOpen(true)}>{words.file.action}</Button>}
      {isOpen && (
        <Dialog title={words.file.action} onClose={() => setOpen(false)}>
          <ResultsForm detail={detail} onDone={() => setOpen(false)} />
        </Dialog>
      )}
    </section>
  );
}
