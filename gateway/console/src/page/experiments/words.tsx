import type { Schemas } from "../../api/client";
import { difference, spoken } from "../../api/format";
import { State, type Tone } from "../../part/State";
import { Unknown } from "../../part/Time";

type Status = Schemas["ExperimentStatus"];

export const STATUSES: readonly Status[] = ["draft", "running", "complete", "analyzing", "shipped", "iterating", "rejected", "abandoned"];
export const OUTCOMES = ["ship", "iterate", "abandon"] as const;

const FINAL: readonly Status[] = ["shipped", "rejected", "abandoned"];

/** Whether its evidence was kept, or will be at once. */
export const isDecided = ({ outcome, status }: Schemas["Experiment"]) => outcome !== null || FINAL.includes(status);

const TONES: Readonly<Record<Status, Tone>> = {
  draft: "off",
  running: "running",
  complete: "done",
  analyzing: "running",
  shipped: "done",
  iterating: "running",
  rejected: "failed",
  abandoned: "off",
};

export function ExperimentState({ status }: { status: Status }) {
  return <State tone={TONES[status]}>{status}</State>;
}

/** The difference that was observed, as it was typed: a number without a unit. */
export function Delta({ experiment }: { experiment: Schemas["Experiment"] }) {
  if (experiment.observed_delta === null) return <Unknown />;
  return (
    <>
      {difference(experiment.observed_delta)}
      {experiment.delta_confidence && <span class="quiet"> {spoken(experiment.delta_confidence)}</span>}
    </>
  );
}
