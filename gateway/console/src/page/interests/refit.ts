import { answer, api } from "../../api/client";
import { refitTask } from "../../api/queries";
import { useTask } from "../../part/task";

/** Fit the model of an interest to what has been rated, and follow that. */
export const useRefit = (historyId: string) =>
  useTask({
    start: () =>
      answer(
        api.POST("/api/v1.0/experiment-histories/{history_id}/refit-preference-model", { params: { path: { history_id: historyId } } }),
      ),
    task: refitTask(historyId),
    onEnd: () => undefined,
  });
