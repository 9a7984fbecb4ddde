import type { Schemas } from "../../api/client";
import { Button } from "../../part/form/Button";
import { Fault } from "../../part/Fault";
import { May } from "../../part/scope";
import { Time } from "../../part/Time";
import { Unfitted } from "./Learned";
import { Facts } from "./ModelFacts";
import { modelText } from "./modelText";
import { useRefit } from "./refit";

const words = modelText;

function Current({ model }: { model: Schemas["InterestDetail"]["model"] }) {
  if (!model) return <p class="quiet">{words.none}</p>;
  return (
    <>
      <p class="quiet">
        {words.since} <Time at={model.fitted_at} />
      </p>
      <Facts facts={model} />
      {model.auc === null && <p class="quiet">{words.unknown}</p>}
    </>
  );
}

/** The model of an interest, how good it is, and fitting it to what has been rated since. */
export function Model({ interest }: { interest: Schemas["InterestDetail"] }) {
  const { start, isRunning, ended, error } = useRefit(interest);
  return (
    <section class="group">
      <h2>{words.title}</h2>
      <p class="quiet">{words.lead}</p>
      <div aria-live="polite">
        <Current model={interest.model} />
        {ended && <Unfitted task={ended} />}
      </div>
      {error !== null && <Fault error={error} />}
      <May scope="interests:write">
        <div class="actions">
          <Button disabled={isRunning} onClick={start}>
            {isRunning ? words.fitting : words.refit}
          </Button>
        </div>
      </May>
    </section>
  );
}
