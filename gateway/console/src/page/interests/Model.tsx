import { answer, api } from "../../api/client";
import { refitTask } from "../../api/queries";
import { Button } from "../../part/Button";
import { Fault } from "../../part/Fault";
import { useTask } from "../../part/task";
import { text } from "../../text";
import { Learned } from "./Learned";

const words = text.interests.model;

/** The model of an interest, and fitting it to what has been rated since. */
export function Model({ historyId }: { historyId: string }) {
  const { start, isRunning, ended, error } = useTask({
    start: () =>
      answer(
        api.POST("/api/v1.0/experiment-histories/{history_id}/refit-preference-model", { params: { path: { history_id: historyId } } }),
      ),
    task: refitTask(historyId),
    onEnd: () => undefined,
  });
  return (
    <section class="group">
      <h2>{words.title}</h2>
      <p class="quiet">{words.lead}</p>
      <div aria-live="polite">{ended && <Learned task={ended} />}</div>
      {error !== null && <Fault error={error} />}
      <div class="actions">
        <Button disabled={isRunning} onClick={start}>
          {isRunning ? words.fitting : words.refit}
        </Button>
      </div>
    </section>
  );
}
