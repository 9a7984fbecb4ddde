/** Ratings of papers: written at once, shown at once, and taken back when they are refused. */
import { useCallback, useRef, useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";

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

const path = (id: string) => ({ path: { recommendation_id: id } });
const SENT = { keepalive: true }; // also when the page is left at once

const give = (id: string, signal: Signal) =>
  answer(api.POST("/api/v1.0/papers/recommended/{recommendation_id}/feedback", { ...SENT, params: path(id), body: { signal } }));

const take = (id: string, signal: Signal) =>
  answer(api.DELETE("/api/v1.0/papers/recommended/{recommendation_id}/feedback", { ...SENT, params: { ...path(id), query: { signal } } }));

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
  const change = useCallback((id: string, signal: Signal | null, send: () => Promise<unknown>) => {
    const line = lines.current.get(id) ?? { end: Promise.resolve() };
    lines.current.set(id, line);
    const refused = (error: unknown) => {
      setFaults((before) => ({ ...before, [id]: error }));
      if (line.end !== end) return; // what was sent after it says what is shown
      const { done } = line;
      setChanged((before) => (done === undefined ? without(before, id) : { ...before, [id]: done }));
    };
    const end: Promise<void> = line.end.then(send).then(() => void (line.done = signal), refused);
    line.end = end;
    setFaults((before) => without(before, id));
    setChanged((before) => ({ ...before, [id]: signal }));
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
    if (signal) change(id, null, () => take(id, signal));
  };
  const rate = (id: string, signal: Signal) => {
    setOrder((before) => [...before, id]);
    change(id, signal, () => give(id, signal));
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
