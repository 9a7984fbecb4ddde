import { useLocation } from "wouter-preact";

import { useKeys } from "../../part/keyboard";
import type { Recommendation } from "./Card";
import type { Current } from "./current";
import type { RatingState, Signal } from "./rating";

interface Handled {
  current: Current;
  rating: RatingState;
  rate: (paper: Recommendation | undefined, signal: Signal) => void;
  onWhy: (paper: Recommendation) => void;
}

/** The keys of Today. Taking back is for the last rating, which the focus has left; without one, for the paper that has the focus. */
export function useRatingKeys({ current, rating, rate, onWhy }: Handled): void {
  const [, navigate] = useLocation();
  const { paper } = current;
  const undo = () => {
    const last = rating.last ?? paper?.recommendation_id;
    if (!last) return;
    rating.takeBack(last);
    current.setCurrent(last);
  };
  useKeys({
    j: current.next,
    k: current.previous,
    l: () => rate(paper, "like"),
    d: () => rate(paper, "dislike"),
    s: () => rate(paper, "save"),
    x: () => rate(paper, "dismiss"),
    u: undo,
    w: () => paper && onWhy(paper),
    Enter: () => paper && navigate(`/papers/${encodeURIComponent(paper.resource_id)}`),
  });
}
