import { useState } from "preact/hooks";

import type { Recommendation } from "./Card";
import type { Ratings } from "./rating";

export type Current = ReturnType<typeof useCurrent>;

/** The paper that the keys are for, and moving to others. */
export function useCurrent(papers: readonly Recommendation[], ratings: Ratings, first: string | null) {
  const [current, setCurrent] = useState(first);
  const indexOf = (id: string | null) => papers.findIndex((paper) => paper.recommendation_id === id);
  const at = indexOf(current);
  const move = (by: number) =>
    setCurrent((before) => papers[Math.min(Math.max(indexOf(before) + by, 0), papers.length - 1)]?.recommendation_id ?? before);
  const goOn = () => {
    const next = papers.find((paper, index) => index > at && !ratings[paper.recommendation_id]);
    if (next) setCurrent(next.recommendation_id);
  };
  return { paper: papers[at], setCurrent, next: () => move(1), previous: () => move(-1), goOn };
}
