/** How often an answer is asked for again. */

const FIRST_MS = 2_000;
const LATER_MS = 5_000;
const FIRST_COUNT = 15; // half a minute

interface Asked<Data> {
  state: { data: Data | undefined; dataUpdateCount: number };
}

/** Ask again while it runs: every two seconds, after half a minute every five. */
export function pollWhile<Data>(isRunning: (data: Data) => boolean) {
  return ({ state }: Asked<Data>): number | false => {
    if (state.data === undefined || !isRunning(state.data)) return false;
    return state.dataUpdateCount < FIRST_COUNT ? FIRST_MS : LATER_MS;
  };
}
