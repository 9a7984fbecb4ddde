/** How often an answer is asked for again. */

const FIRST_MS = 2_000;
const LATER_MS = 5_000;
const FIRST_COUNT = 15; // half a minute
const MINUTE_MS = 60_000;

interface Asked<Data> {
  state: { data: Data | undefined; dataUpdateCount: number; status: "pending" | "error" | "success" };
}

/** Ask again while it runs: every two seconds, after half a minute every five, and every minute while there is no answer. */
export function pollWhile<Data>(isRunning: (data: Data) => boolean) {
  return ({ state }: Asked<Data>): number | false => {
    if (state.data === undefined || !isRunning(state.data)) return false;
    if (state.status === "error") return MINUTE_MS;
    return state.dataUpdateCount < FIRST_COUNT ? FIRST_MS : LATER_MS;
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
export const everyMinute = (): number | false => (isLive() ? MINUTE_MS : false);
