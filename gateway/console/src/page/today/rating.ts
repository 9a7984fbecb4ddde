/** Ratings of papers: written at once, shown at once, and taken back when they are refused. */
import { useCallback, useRef, useState } from "preact/hooks";

import { answer, api, leaving, raw, type Schemas } from "../../api/client";

export type Signal = Schemas["Feedback"]["signal"];
export type Ratings = Readonly<Record<string, Signal>>;

type PerPaper<T> = Readonly<Record<string, T>>;

function without<T>(all: PerPaper<T>, id: string): PerPaper<T> {
  return Object.fromEntries(Object.entries(all).filter(([each]) => each !== id));
}

export interface RatingState {
  ratings: Ratings;
  rate: (id: string, signal: Signal) => void;
  takeBack: (id: string) => void;
  last: string | undefined; // rated in this visit, and not taken back since
  isNew: (id: string) => boolean; // rated since the page was opened
  faults: PerPaper<unknown>; // why the last change of a paper's rating was refused
}

/** A change of a paper's rating: the signal is given, or taken back. */
interface Change {
  id: string;
  signal: Signal;
  isGiven: boolean;
  sent?: Promise<unknown>; // its answer
}

function send({ id, signal, isGiven }: Change, fetch: typeof raw): Promise<unknown> {
  const how = { fetch, keepalive: true }; // also when the page is left at once
  const path = { recommendation_id: id };
  return isGiven
    ? answer(api.POST("/api/v1.0/papers/recommended/{recommendation_id}/feedback", { ...how, params: { path }, body: { signal } }))
    : answer(api.DELETE("/api/v1.0/papers/recommended/{recommendation_id}/feedback", { ...how, params: { path, query: { signal } } }));
}

/** Changes that wait for the one before of the same paper, in the order in which they were made. */
const waiting = new Set<Change>();

/** The page is left, so none can wait: of each paper the last change is sent, and what takes back another signal. They arrive in any
 * order, so the rest, of which they leave nothing, is not. */
function sendWaiting(): void {
  const last = new Map([...waiting].map((each) => [each.id, each]));
  for (const change of waiting) {
    const end = last.get(change.id);
    const counts = change === end || (!change.isGiven && change.signal !== end?.signal);
    change.sent = counts ? send(change, leaving) : Promise.resolve();
  }
  waiting.clear();
}

addEventListener("pagehide", sendWaiting);

/** The changes of one paper, one after the other, so that the service has the last one last. */
interface Line {
  end: Promise<void>; // of the last change
  done?: Signal | null; // what the service has of this visit; absent: nothing yet
}

/** Ratings that differ from what the service said first; null: none. */
function useChanges() {
  const [changed, setChanged] = useState<PerPaper<Signal | null>>({});
  const [faults, setFaults] = useState<PerPaper<unknown>>({});
  const lines = useRef(new Map<string, Line>());
  const change = useCallback((id: string, signal: Signal, isGiven: boolean) => {
    const next: Change = { id, signal, isGiven };
    const rating = isGiven ? signal : null;
    const line = lines.current.get(id) ?? { end: Promise.resolve() };
    lines.current.set(id, line);
    const refused = (error: unknown) => {
      setFaults((before) => ({ ...before, [id]: error }));
      if (line.end !== end) return; // what was sent after it says what is shown
      const { done } = line;
      setChanged((before) => (done === undefined ? without(before, id) : { ...before, [id]: done }));
    };
    const sent = () => {
      waiting.delete(next);
      return (next.sent ??= send(next, raw));
    };
    waiting.add(next);
    const end: Promise<void> = line.end.then(sent).then(() => void (line.done = rating), refused);
    line.end = end;
    setFaults((before) => without(before, id));
    setChanged((before) => ({ ...before, [id]: rating }));
  }, []);
  return { changed, faults, change };
}

/** `known`: what the service says was rated before. */
export function useRatings(known: Ratings): RatingState {
  const { changed, faults, change } = useChanges();
  const [order, setOrder] = useState<readonly string[]>([]); // of the ratings of this visit
  const ratings = Object.entries(changed).reduce<Ratings>(
    (all, [id, signal]) => (signal ? { ...all, [id]: signal } : without(all, id)),
    known,
  );
  const takeBack = (id: string) => {
    const signal = ratings[id];
    if (signal) change(id, signal, false);
  };
  const rate = (id: string, signal: Signal) => {
    setOrder((before) => [...before, id]);
    change(id, signal, true);
  };
  return {
    ratings,
    rate,
    takeBack,
    last: [...order].reverse().find((id) => changed[id]),
    isNew: (id) => Boolean(changed[id]),
    faults,
  };
}
