/** Ratings of papers: written at once, shown at once, and taken back when they are refused. */
import { useMutation } from "@tanstack/preact-query";
import { useCallback, useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";

export type Signal = Schemas["Feedback"]["signal"];
export type Ratings = Readonly<Record<string, Signal>>;

interface Rating {
  id: string;
  signal: Signal;
}

function without(ratings: Ratings, id: string): Ratings {
  return Object.fromEntries(Object.entries(ratings).filter(([each]) => each !== id));
}

export interface RatingState {
  ratings: Ratings;
  rate: (id: string, signal: Signal) => void;
  takeBack: (id: string) => void;
  last: string | undefined; // rated in this visit, and not taken back since
  isNew: (id: string) => boolean; // rated since the page was opened
  error: unknown;
}

const path = (id: string) => ({ path: { recommendation_id: id } });
const SENT = { keepalive: true }; // also when the page is left at once

/** `known`: what the service says was rated before. */
export function useRatings(known: Ratings): RatingState {
  const [changed, setChanged] = useState<Readonly<Record<string, Signal | null>>>({});
  const [order, setOrder] = useState<readonly string[]>([]); // of the ratings of this visit
  const set = useCallback((id: string, signal: Signal | null) => setChanged((before) => ({ ...before, [id]: signal })), []);
  const rating = useMutation({
    mutationFn: ({ id, signal }: Rating) =>
      answer(api.POST("/api/v1.0/papers/recommended/{recommendation_id}/feedback", { ...SENT, params: path(id), body: { signal } })),
    onMutate: ({ id, signal }) => set(id, signal),
    onError: (_error, { id }) => set(id, null),
  });
  const taking = useMutation({
    mutationFn: ({ id, signal }: Rating) =>
      answer(
        api.DELETE("/api/v1.0/papers/recommended/{recommendation_id}/feedback", { ...SENT, params: { ...path(id), query: { signal } } }),
      ),
    onMutate: ({ id }) => set(id, null),
    onError: (_error, { id, signal }) => set(id, signal),
  });
  const ratings = Object.entries(changed).reduce<Ratings>(
    (all, [id, signal]) => (signal ? { ...all, [id]: signal } : without(all, id)),
    known,
  );
  const takeBack = (id: string) => {
    const signal = ratings[id];
    if (signal) taking.mutate({ id, signal });
  };
  const rate = (id: string, signal: Signal) => {
    setOrder((before) => [...before, id]);
    rating.mutate({ id, signal });
  };
  return {
    ratings,
    rate,
    takeBack,
    last: [...order].reverse().find((id) => changed[id]),
    isNew: (id) => Boolean(changed[id]),
    error: rating.error ?? taking.error,
  };
}
