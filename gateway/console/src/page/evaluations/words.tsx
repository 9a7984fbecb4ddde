import type { Schemas } from "../../api/client";
import { spoken } from "../../api/format";
import { State, type Tone } from "../../part/State";

type RunStatus = Schemas["EvalRunStatus"];
type BuildStatus = Schemas["BuildStatus"];

export const RUN_STATUSES: readonly RunStatus[] = ["queued", "running", "succeeded", "failed", "cancelled", "timed_out"];
export const BUILD_STATUSES: readonly BuildStatus[] = ["queued", "building", "succeeded", "failed", "cancelled"];

const TONES: Readonly<Record<RunStatus | BuildStatus, Tone>> = {
  queued: "running",
  building: "running",
  running: "running",
  succeeded: "done",
  failed: "failed",
  timed_out: "failed",
  cancelled: "off",
};

/** How a build or a run does. */
export function WorkState({ status }: { status: RunStatus | BuildStatus }) {
  return <State tone={TONES[status]}>{spoken(status)}</State>;
}

export const canBeCancelled = (status: RunStatus | BuildStatus) => ["queued", "building", "running"].includes(status);

/** `recall 0.71, nDCG 0.42`; the first few. */
export function metricsText(metrics: Readonly<Record<string, number>> | null, shown = 3): string {
  const all = Object.entries(metrics ?? {});
  return all
    .slice(0, shown)
    .map(([name, value]) => `${name} ${metricText(value)}`)
    .join(", ");
}

export function metricText(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 4 });
}
