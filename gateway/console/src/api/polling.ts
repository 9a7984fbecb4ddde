/** How often an answer is asked for again. */

const FIRST_MS = 2_000;
const LATER_MS = 5_000;
const LATER_FROM_MS = 30_000;
const MINUTE_MS = 60_000;

let isPaused = false;

/** While there is no session, nothing is asked for again. */
export function pausePolling(isOn: boolean): void {
  isPaused = isOn;
}

/** From when on work that is not done is asked for more and more seldom: it lasts, or keeps failing. */
const LONG_MS = 300_000;

interface Asked<Data> {
  state: { data: Data | undefined; status: "pending" | "error" | "success" };
}

/** Since when what a question is about runs, as this page saw it. */
const runningSince = new WeakMap<object, number>();

function ageOf(question: object): number {
  const now = Date.now();
  const since = runningSince.get(question) ?? now;
  runningSince.set(question, since);
  return now - since;
}

/** Two seconds, after half a minute five, after five minutes more and more, up to a minute. */
function intervalAt(age: number): number {
  if (age < LATER_FROM_MS) return FIRST_MS;
  return Math.min(Math.max(LATER_MS, (age * LATER_MS) / LONG_MS), MINUTE_MS);
}

/** Ask again while it runs: often at first, and every minute while there is no answer. */
export function pollWhile<Data>(isRunning: (data: Data) => boolean) {
  return (question: Asked<Data>): number | false => {
    const { state } = question;
    if (state.data === undefined || !isRunning(state.data)) {
      runningSince.delete(question);
      return false;
    }
    const age = ageOf(question);
    if (isPaused) return false;
    return state.status === "error" ? MINUTE_MS : intervalAt(age);
  };
}

const SWITCH = "expops.live";

/** Whether lists that are open are asked for again by themselves; kept by the browser. */
export function isLive(): boolean {
  return localStorage.getItem(SWITCH) !== "off";
}

export function setLive(isOn: boolean): void {
  localStorage.setItem(SWITCH, isOn ? "on" : "off");
}

/** Of lists: ask again every minute, while the page is in sight. */
export const everyMinute = (): number | false => (isLive() && !isPaused ? MINUTE_MS : false);
