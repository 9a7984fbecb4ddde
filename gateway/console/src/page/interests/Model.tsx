import { Button } from "../../part/form/Button";
import { Fault } from "../../part/Fault";
import { May } from "../../part/scope";
import { text } from "../../text";
import { Learned } from "./Learned";
import { useRefit } from "./refit";

const words = text.interests.model;

/** The model of an interest, and fitting it to what has been rated since. */
export function Model({ historyId }: { historyId: string }) {
  const { start, isRunning, ended, error } = useRefit(historyId);
  return (
    <section class="group">
      <h2>{words.title}</h2>
      <p class="quiet">{words.lead}</p>
      <div aria-live="polite">{ended && <Learned task={ended} />}</div>
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
