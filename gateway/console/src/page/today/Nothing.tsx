import { useQuery } from "@tanstack/preact-query";
import { lazy, Suspense } from "preact/compat";

import type { Schemas } from "../../api/client";
import { digest as digestOf, isAwaited } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Empty } from "../../part/Empty";
import { useScope } from "../../part/scope";
import { text } from "../../text";
import { List } from "./List";
import { todayText } from "./text";
import type { Wish } from "./wish";

/** Seldom wanted here: not part of the first load. */
const InterestForm = lazy(() => import("../interests/InterestForm").then(({ InterestForm: component }) => component));

type Digest = Schemas["Digest"];

/** The form of the first interest. What is made shows here by itself. */
function First() {
  const mayMake = useScope("interests:write");
  return (
    <>
      <Empty>{todayText.noInterests}</Empty>
      {mayMake && (
        <Suspense fallback={<p class="quiet">{text.loading}</p>}>
          <InterestForm onDone={() => undefined} />
        </Suspense>
      )}
    </>
  );
}

/** What was recommended before today. */
function Week({ wish }: { wish: Wish }) {
  return (
    <>
      <Empty>{todayText.nothingToday}</Empty>
      <Answer query={useQuery(digestOf("week", 0))}>
        {({ items }) =>
          items.total > 0 ? (
            <section class="group">
              <h2>{todayText.week}</h2>
              <List digest={items} wish={wish} />
            </section>
          ) : (
            <p class="quiet">{todayText.nothingWeek}</p>
          )
        }
      </Answer>
    </>
  );
}

/** Nothing to read: what the next step is. */
export function Nothing({ digest, wish }: { digest: Digest; wish: Wish }) {
  if (digest.interests.length === 0) return <First />;
  if (digest.interests.some(isAwaited)) return <Empty>{todayText.building}</Empty>;
  if (digest.period === "week") return <Empty>{todayText.nothingWeek}</Empty>;
  return <Week wish={wish} />;
}
