import { useQueryClient } from "@tanstack/preact-query";

import { answer, api, type Schemas } from "../../api/client";
import { interest, refitTask } from "../../api/queries";
import { useTask } from "../../part/task";

/** Fit the model of an interest to what has been rated, and follow that. */
export function useRefit({ id, experiment_history_id: history_id }: Schemas["InterestDetail"]) {
  const client = useQueryClient();
  return useTask({
    start: () =>
      answer(api.POST("/api/v1.0/experiment-histories/{history_id}/refit-preference-model", { params: { path: { history_id } } })),
    task: refitTask(history_id),
    onEnd: () => client.invalidateQueries({ queryKey: interest(id).queryKey }),
  });
}
