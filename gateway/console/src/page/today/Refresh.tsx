import { useQueryClient } from "@tanstack/preact-query";

import { answer, api } from "../../api/client";
import { refreshTask } from "../../api/queries";
import { Button } from "../../part/form/Button";
import { Fault } from "../../part/Fault";
import { useTask } from "../../part/task";
import { todayText } from "./text";

/** Compute the recommendations now, and show how far that is. */
export function Refresh() {
  const client = useQueryClient();
  const { start, isRunning, progress, ended, error } = useTask({
    start: () => answer(api.POST("/api/v1.0/papers/recommended/refresh", { body: {} })),
    task: refreshTask,
    onEnd: () => client.invalidateQueries({ queryKey: ["digest"] }),
  });
  return (
    <>
      <Button disabled={isRunning} onClick={start}>
        {isRunning ? todayText.refreshing(progress) : todayText.refresh}
      </Button>
      {error !== null && <Fault error={error} />}
      {ended?.status === "failed" && <span class="warm">{todayText.refreshFailed}</span>}
    </>
  );
}
