import { useMemo, useState } from "preact/hooks";
import { Link } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { counted } from "../../api/format";
import { Button } from "../../part/form/Button";
import { Empty } from "../../part/Empty";
import { useOpened } from "../../part/opened";
import { May, useScope } from "../../part/scope";
import { Awaited } from "./Awaited";
import { Card, type Recommendation } from "./Card";
import { useCurrent } from "./current";
import { useRatingKeys } from "./keys";
import { Learning } from "./Learning";
import { useLessons } from "./lessons";
import { Plan } from "./Plan";
import { useRatings, type Ratings, type Signal } from "./rating";
import { todayText } from "./text";
import { Wanted } from "./Wanted";
import { Why } from "./Why";
import type { Wish } from "./wish";

type Digest = Schemas["Digest"];

function knownRatings(digest: Digest): Ratings {
  const papers = digest.interests.flatMap((interest) => interest.recommendations);
  return Object.fromEntries(papers.flatMap((paper) => paper.signals.slice(0, 1).map((signal) => [paper.recommendation_id, signal])));
}

function Summary({ papers, interests, ratings }: { papers: readonly Recommendation[]; interests: number; ratings: Ratings }) {
  const left = papers.filter((paper) => !ratings[paper.recommendation_id]).length;
  const all = counted(papers.length, "paper");
  const of = counted(interests, "interest");
  return <p class="lead">{left ? todayText.summary(all, of, String(left)) : todayText.allRated(all, of)}</p>;
}

/** A rating that was chosen in a message waits for one press here: an address alone changes nothing. */
function Asked({ paper, signal, onRate }: { paper: Recommendation; signal: Signal; onRate: () => void }) {
  return (
    <p class="lead">
      {todayText.asked(todayText.rated[signal])}{" "}
      <Button kind="main" onClick={onRate}>
        {paper.title}
      </Button>
    </p>
  );
}

interface Props {
  digest: Digest;
  wish: Wish;
}

/** Papers by interest, rated by mouse and by keys. */
export function List({ digest, wish }: Props) {
  const known = useMemo(() => knownRatings(digest), [digest]);
  const rating = useRatings(known);
  const all = digest.interests.filter((interest) => interest.recommendations.length > 0);
  const shown = wish.interest ? all.filter(({ id }) => id === wish.interest) : all;
  const papers = shown.flatMap((interest) => interest.recommendations);
  const wanted = papers.find((paper) => paper.recommendation_id === wish.paper);
  const current = useCurrent(papers, rating.ratings, wanted ? wish.paper : null);
  const [whyOf, openWhy] = useOpened("why");
  const why = papers.find((paper) => paper.recommendation_id === whyOf);
  const explain = (paper: Recommendation) => openWhy(paper.recommendation_id);
  const [plan, setPlan] = useState(wish.isPlan ? wanted : undefined);
  const lessons = useLessons(shown, rating);
  const mayRate = useScope("recommendations:write");
  const rate = (paper: Recommendation | undefined, signal: Signal) => {
    if (!paper || !mayRate) return;
    rating.rate(paper.recommendation_id, signal);
    current.goOn();
  };
  useRatingKeys({ current, rating, rate, onWhy: explain });
  return (
    <>
      <Summary papers={papers} interests={shown.length} ratings={rating.ratings} />
      <Awaited digest={digest} />
      {wish.interest && <Link href="/">{todayText.everyInterest}</Link>}
      {wish.paper && !wanted && <Wanted id={wish.paper} />}
      {mayRate && wanted && wish.signal && !rating.ratings[wanted.recommendation_id] && (
        <Asked paper={wanted} signal={wish.signal} onRate={() => wish.signal && rate(wanted, wish.signal)} />
      )}
      {wish.interest && shown.length === 0 && <Empty>{todayText.nothingOfInterest}</Empty>}
      {shown.map((interest) => (
        <section key={interest.id} class="group">
          <h2>
            <Link href={`/interests/${interest.id}`}>{interest.name}</Link>
          </h2>
          {interest.recommendations.map((paper) => (
            <Card
              key={paper.recommendation_id}
              paper={paper}
              signal={rating.ratings[paper.recommendation_id]}
              fault={rating.faults[paper.recommendation_id]}
              isCurrent={paper === current.paper}
              actions={{
                onRate: (signal) => rate(paper, signal),
                onUndo: () => rating.takeBack(paper.recommendation_id),
                onWhy: () => explain(paper),
                onPlan: () => setPlan(paper),
                onFocus: () => current.setCurrent(paper.recommendation_id),
              }}
            />
          ))}
        </section>
      ))}
      {lessons.map(({ number, interest }) => (
        <Learning key={`${interest.id} ${number}`} interest={interest} />
      ))}
      <p class="small quiet">{todayText.keys}</p>
      {why && <Why paper={why} onClose={() => openWhy(null)} />}
      {plan && (
        <May scope="experiments:write">
          <Plan paper={plan} onClose={() => setPlan(undefined)} />
        </May>
      )}
    </>
  );
}
