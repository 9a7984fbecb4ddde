/** Whether lists stay up to date by themselves, and since when nothing can be asked. */
import { useQueryClient } from "@tanstack/preact-query";
import { useEffect, useState } from "preact/hooks";

import { relative } from "../../api/format";
import { isLive, setLive } from "../../api/polling";
import { Problem } from "../../api/problem";
import { text } from "../../text";

export function LiveSwitch() {
  const [isOn, setIsOn] = useState(isLive());
  const client = useQueryClient();
  const change = (next: boolean) => {
    setLive(next);
    setIsOn(next);
    void client.invalidateQueries({ refetchType: next ? "active" : "none" }); // each decides anew when it asks again
  };
  return (
    <label class="check nav-live" title={text.nav.liveHint}>
      <input type="checkbox" checked={isOn} onChange={(event) => change(event.currentTarget.checked)} /> {text.nav.live}
    </label>
  );
}

const hasNoAnswer = (error: unknown) => error instanceof Problem && error.status === 0;

/** When the first question stayed without an answer, of all since the last answer; null: there is an answer. */
function useSilence(): Date | null {
  const client = useQueryClient();
  const [since, setSince] = useState<Date | null>(null);
  useEffect(
    () =>
      client.getQueryCache().subscribe((event) => {
        if (event.type !== "updated") return;
        const { action } = event;
        if (action.type === "pause" || (action.type === "error" && hasNoAnswer(action.error))) setSince((was) => was ?? new Date());
        else if (action.type === "error" || (action.type === "success" && !action.manual)) setSince(null);
      }),
    [client],
  );
  return since;
}

const REDRAWN_MS = 15_000;

/** How long ago that was, drawn anew as it goes on. The sentence is said once; a reader is not told each minute. */
function Since({ at }: { at: Date }) {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), REDRAWN_MS);
    return () => clearInterval(timer);
  }, []);
  return <p class="silence">{text.notConnected(relative(at, now))}</p>;
}

/** Says so above the page while the server cannot be reached. */
export function Silence() {
  const since = useSilence();
  return <div role="status">{since && <Since at={since} />}</div>;
}
