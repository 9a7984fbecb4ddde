import { useMutation, useQuery } from "@tanstack/preact-query";
import { useEffect, useRef, useState } from "preact/hooks";

import type { Schemas } from "../api/client";
import type { taskOptions } from "../api/queries";

interface Work {
  start: () => Promise<{ task_id: string }>;
  task: (id: string | null) => ReturnType<typeof taskOptions>;
  onEnd: () => unknown;
}

interface Followed {
  start: () => void;
  isRunning: boolean;
  progress: number; // percent
  ended: Schemas["Task"] | undefined; // as it ended, until the next start
  error: unknown; // null: none
}

const ENDS: readonly Schemas["Task"]["status"][] = ["completed", "failed", "cancelled"];

/** Start a task, and follow it to its end. */
export function useTask({ start, task, onEnd }: Work): Followed {
  const [id, setId] = useState<string | null>(null);
  const starting = useMutation({ mutationFn: start, onSuccess: (started) => setId(started.task_id) });
  const following = useQuery(task(id));
  const ended = following.data && ENDS.includes(following.data.status) ? following.data : undefined;
  const tell = useRef(onEnd);
  tell.current = onEnd;
  useEffect(() => {
    if (ended) void tell.current();
  }, [ended]);
  return {
    start: () => {
      setId(null);
      starting.mutate();
    },
    isRunning: starting.isPending || (id !== null && !ended && !following.error),
    progress: following.data?.progress ?? 0,
    ended,
    error: starting.error ?? following.error,
  };
}
