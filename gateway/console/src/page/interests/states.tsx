import type { Schemas } from "../../api/client";
import { State, type Tone } from "../../part/State";
import { interestsText } from "./text";

type PoolStatus = Schemas["Interest"]["pool_status"];

const TONES: Readonly<Record<PoolStatus, Tone>> = { building: "running", ready: "done", stale: "waits", failed: "failed" };

/** Whether an interest is computed, and how its pool of papers is. */
export function InterestState({ interest }: { interest: Schemas["Interest"] }) {
  if (!interest.is_active) return <State tone="off">{interestsText.paused}</State>;
  return <State tone={TONES[interest.pool_status]}>{interestsText.states[interest.pool_status]}</State>;
}
