/** What the ratings of a visit teach: each ten of them are a lesson, for which the models of their interests are fitted. */
import { useState } from "preact/hooks";

import type { Schemas } from "../../api/client";
import { useScope } from "../../part/scope";
import type { RatingState } from "./rating";

type Interest = Schemas["Digest"]["interests"][number];

const RATINGS_OF_LESSON = 10;

interface Lesson {
  number: number; // of the newest lesson that is about the interest, from 1
  interest: Interest;
}

const idsOf = (interest: Interest) => interest.recommendations.map((paper) => paper.recommendation_id);

/** The interests that have had a lesson. A rating that was part of one is part of no other. */
export function useLessons(interests: readonly Interest[], { isNew }: RatingState): Lesson[] {
  const [lessons, setLessons] = useState<readonly (readonly string[])[]>([]); // the ratings of each
  const canLearn = useScope("interests:write");
  const fresh = interests.flatMap(idsOf).filter((id) => isNew(id) && !lessons.some((lesson) => lesson.includes(id)));
  if (canLearn && fresh.length >= RATINGS_OF_LESSON) setLessons([...lessons, fresh]);
  const newest = (ids: readonly string[]) => 1 + lessons.map((lesson) => ids.some((id) => lesson.includes(id))).lastIndexOf(true);
  return interests.map((interest) => ({ number: newest(idsOf(interest)), interest })).filter(({ number }) => number > 0);
}
