/** The papers of the day, by interest: what the team should read, rated with one key. */
import { useQuery } from "@tanstack/preact-query";
import { useMemo, useState } from "preact/hooks";
import { Link, useLocation, useSearchParams } from "wouter-preact";

import { counted, day } from "../../api/format";
import type { Schemas } from "../../api/client";
import { digest, DIGEST_INTERESTS, type Period } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/Button";
import { Empty } from "../../part/Empty";
import { Fault } from "../../part/Fault";
import { useKeys } from "../../part/keyboard";
import { Page } from "../../part/Page";
import { Pager } from "../../part/Table";
import { Tabs } from "../../part/Tabs";
import { text } from "../../text";
import { Card, type Recommendation } from "./Card";
import { Learning } from "./Learning";
import { useLessons } from "./lessons";
import { Plan } from "./Plan";
import { useRatings, type Ratings, type RatingState, type Signal } from "./rating";
import { Refresh } from "./Refresh";
import { Wanted } from "./Wanted";
import { Why } from "./Why";

type Digest = Schemas["Digest"];

const PERIODS = [
  ["today", text.today.periods.today],
  ["week", text.today.periods.week],
] as const satisfies readonly (readonly [Period, string])[];

function knownRatings(digest: Digest): Ratings {
  const papers = digest.interests.flatMap((interest) => interest.recommendations);
  return Object.fromEntries(papers.flatMap((paper) => paper.signals.slice(0, 1).map((signal) => [paper.recommendation_id, signal])));
}

function Summary({ papers, interests, ratings }: { papers: readonly Recommendation[]; interests: number; ratings: Ratings }) {
  const left = papers.filter((paper) => !ratings[paper.recommendation_id]).length;
  const all = counted(papers.length, "paper");
  const of = counted(interests, "interest");
  return <p class="lead">{left ? text.today.summary(all, of, String(left)) : text.today.allRated(all, of)}</p>;
}

/** The paper that the keys are for, and moving to others. */
function useCurrent(papers: readonly Recommendation[], ratings: Ratings, first: string | null) {
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

/** What the address of a message asks for: a paper, with what was chosen for it, or an interest. */
interface Wish {
  paper: string | null;
  signal: Signal | undefined;
  isPlan: boolean;
  interest: string | null;
}

const CHOICES = ["like", "save", "dislike", "dismiss"] as const;

function wishOf(address: URLSearchParams): Wish {
  const choice = address.get("signal");
  const signal = CHOICES.find((each) => each === choice);
  return { paper: address.get("recommendation"), signal, isPlan: choice === "plan", interest: address.get("interest") };
}

/** A rating that was chosen in a message waits for one press here: an address alone changes nothing. */
function Asked({ paper, signal, onRate }: { paper: Recommendation; signal: Signal; onRate: () => void }) {
  return (
    <p class="lead">
      {text.today.asked(text.today.rated[signal])}{" "}
      <Button kind="main" onClick={onRate}>
        {paper.title}
      </Button>
    </p>
  );
}

interface ListProps {
  digest: Digest;
  rating: RatingState;
  wish: Wish;
}

function List({ digest, rating, wish }: ListProps) {
  const all = digest.interests.filter((interest) => interest.recommendations.length > 0);
  const shown = wish.interest ? all.filter(({ id }) => id === wish.interest) : all;
  const papers = shown.flatMap((interest) => interest.recommendations);
  const wanted = papers.find((paper) => paper.recommendation_id === wish.paper);
  const current = useCurrent(papers, rating.ratings, wanted ? wish.paper : null);
  const [why, setWhy] = useState<Recommendation | null>(null);
  const [plan, setPlan] = useState(wish.isPlan ? wanted : undefined);
  const [, navigate] = useLocation();
  const lessons = useLessons(shown, rating);
  const rate = (paper: Recommendation | undefined, signal: Signal) => {
    if (!paper) return;
    rating.rate(paper.recommendation_id, signal);
    current.goOn();
  };
  useKeys({
    j: current.next,
    k: current.previous,
    l: () => rate(current.paper, "like"),
    d: () => rate(current.paper, "dislike"),
    s: () => rate(current.paper, "save"),
    x: () => rate(current.paper, "dismiss"),
    u: () => current.paper && rating.takeBack(current.paper.recommendation_id),
    w: () => current.paper && setWhy(current.paper),
    Enter: () => current.paper && navigate(`/papers/${encodeURIComponent(current.paper.resource_id)}`),
  });
  return (
    <>
      <Summary papers={papers} interests={shown.length} ratings={rating.ratings} />
      {rating.error !== null && <Fault error={rating.error} />}
      {wish.interest && <Link href="/">{text.today.everyInterest}</Link>}
      {wish.paper && !wanted && <Wanted id={wish.paper} />}
      {wanted && wish.signal && !rating.ratings[wanted.recommendation_id] && (
        <Asked paper={wanted} signal={wish.signal} onRate={() => wish.signal && rate(wanted, wish.signal)} />
      )}
      {wish.interest && shown.length === 0 && <Empty>{text.today.nothingOfInterest}</Empty>}
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
              isCurrent={paper === current.paper}
              actions={{
                onRate: (signal) => rate(paper, signal),
                onUndo: () => rating.takeBack(paper.recommendation_id),
                onWhy: () => setWhy(paper),
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
      <p class="small quiet">{text.today.keys}</p>
      {why && <Why paper={why} onClose={() => setWhy(null)} />}
      {plan && <Plan paper={plan} onClose={() => setPlan(undefined)} />}
    </>
  );
}

/** Nothing to read: what the next step is. */
function Nothing({ digest, onWeek }: { digest: Digest; onWeek: () => void }) {
  if (digest.interests.length === 0)
    return (
      <Empty
        action={
          <Link class="button button-main" href="/interests?new=1">
            {text.today.noInterestsAction}
          </Link>
        }
      >
        {text.today.noInterests}
      </Empty>
    );
  if (digest.interests.every((interest) => interest.pool_status === "building")) return <Empty>{text.today.building}</Empty>;
  if (digest.period === "week") return <Empty>{text.today.nothingWeek}</Empty>;
  return (
    <Empty
      action={
        <button class="button" onClick={onWeek}>
          {text.today.showWeek}
        </button>
      }
    >
      {text.today.nothingToday}
    </Empty>
  );
}

interface ContentProps {
  digest: Digest;
  wish: Wish;
  onWeek: () => void;
}

function Content({ digest, wish, onWeek }: ContentProps) {
  const known = useMemo(() => knownRatings(digest), [digest]);
  const rating = useRatings(known);
  return digest.total > 0 ? <List digest={digest} rating={rating} wish={wish} /> : <Nothing digest={digest} onWeek={onWeek} />;
}

export default function Today() {
  const [search, setSearch] = useSearchParams();
  const wish = wishOf(search);
  const period: Period = search.get("period") === "week" || wish.paper || wish.interest ? "week" : "today";
  const offset = Number(search.get("offset") ?? 0) || 0;
  const ofPeriod = (value: Period) => (value === "week" ? { period: value } : {});
  const setPeriod = (value: Period) => setSearch(ofPeriod(value));
  return (
    <Page
      title={period === "week" ? text.today.week : day(new Date())}
      actions={
        <>
          <Tabs label="Period" values={PERIODS} value={period} onChange={setPeriod} />
          <Refresh />
        </>
      }
    >
      <Answer query={useQuery(digest(period, offset))}>
        {({ items, total }) => (
          <>
            <Content digest={items} wish={wish} onWeek={() => setPeriod("week")} />
            <Pager
              offset={offset}
              size={DIGEST_INTERESTS}
              total={total}
              onMove={(next) => setSearch({ ...ofPeriod(period), offset: String(next) })}
            />
          </>
        )}
      </Answer>
    </Page>
  );
}
