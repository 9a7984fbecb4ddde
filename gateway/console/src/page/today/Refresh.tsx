import { useMutation, useQuery, useQueryClient } from "@tanstack/preact-query";
import { useEffect, useState } from "preact/hooks";

import { answer, api } from "../../api/client";
import { refreshTask } from "../../api/queries";
import { Button } from "../../part/Button";
import { Fault } from "../../part/Fault";
import { text } from "../../text";

const POLL_MS = 2000;

/** Compute the recommendations now, and show how far that is. */
export function Refresh() {
  const [taskId, setTaskId] = useState<string | null>(null);
  const client = useQueryClient();
  const start = useMutation({
    mutationFn: () => answer(api.POST("/api/v1.0/papers/recommended/refresh", { body: {} })),
    onSuccess: (task) => setTaskId(task.task_id),
  });
  const task = useQuery({ ...refreshTask(taskId), refetchInterval: POLL_MS });
  const status = task.data?.status;
  const hasEnded = status === "completed" || status === "failed" || status === "cancelled";
  useEffect(() => {
    if (!hasEnded) return;
    setTaskId(null);
    void client.invalidateQueries({ queryKey: ["digest"] });
  }, [hasEnded, client]);
  const isRunning = start.isPending || taskId !== null;
  return (
    <>
      <Button disabled={isRunning} onClick={() => start.mutate()}>
        {isRunning ? text.today.refreshing(task.data?.progress ?? 0) : text.today.refresh}
      </Button>
      {start.error && <Fault error={start.error} />}
      {status === "failed" && <span class="warm">{text.today.refreshFailed}</span>}
    </>
  );
}
