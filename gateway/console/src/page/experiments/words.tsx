import type { Schemas } from "../../api/client";
import { figure } from "../../api/format";
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

/** The difference that was observed, a number without a unit: as it was typed, or rounded where it was computed. */
export function Delta({ experiment }: { experiment: Schemas["Experiment"] }) {
  const { observed_delta: delta, delta_source: source } = experiment;
  if (delta === null) return <Unknown />;
  return (
    <>
      {delta > 0 && "+"}
      {source === "computed" ? figure(delta) : delta}
      {experiment.delta_confidence && <span class="quiet"> {experiment.delta_confidence.replace("_", " ")}</span>}
    </>
  );
}
