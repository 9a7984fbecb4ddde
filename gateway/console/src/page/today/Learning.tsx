import { useQuery } from "@tanstack/preact-query";
import { useEffect, useRef } from "preact/hooks";

import type { Schemas } from "../../api/client";
import { interest as interestOf } from "../../api/queries";
import { Fault } from "../../part/Fault";
import { Learned } from "../interests/Learned";
import { modelText } from "../interests/modelText";
import { useRefit } from "../interests/refit";
import { todayText } from "./text";

type Interest = Schemas["Digest"]["interests"][number];

function Fit({ detail }: { detail: Schemas["InterestDetail"] }) {
  const { name } = detail;
  const { start, isRunning, ended, error } = useRefit(detail);
  const begin = useRef(start);
  useEffect(() => begin.current(), []);
  return (
    <section class="group" aria-live="polite" aria-label={todayText.learned(name)}>
      <h2>{todayText.learned(name)}</h2>
      {isRunning && <p class="quiet">{modelText.fitting}</p>}
      {ended && <Learned task={ended} />}
      {error !== null && <Fault error={error} />}
    </section>
  );
}

/** Fit the model of an interest to what was just rated, and say what it learned. */
export function Learning({ interest }: { interest: Interest }) {
  const { data } = useQuery(interestOf(interest.id));
  return data ? <Fit detail={data} /> : null;
}
