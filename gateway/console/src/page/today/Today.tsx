/** The papers of the day, by interest: what the team should read, rated with one key. */
import { useQuery } from "@tanstack/preact-query";
import { useSearchParams } from "wouter-preact";

import { utcDay } from "../../api/format";
import { digest, DIGEST_INTERESTS, type Period } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Page } from "../../part/Page";
import { Pager } from "../../part/Pager";
import { May } from "../../part/scope";
import { Tabs } from "../../part/Tabs";
import { List } from "./List";
import { Nothing } from "./Nothing";
import { Refresh } from "./Refresh";
import { todayText } from "./text";
import { wishOf } from "./wish";

const PERIODS = [
  ["today", todayText.periods.today],
  ["week", todayText.periods.week],
] as const satisfies readonly (readonly [Period, string])[];

export default function Today() {
  const [search, setSearch] = useSearchParams();
  const wish = wishOf(search);
  const period: Period = search.get("period") === "week" || wish.paper || wish.interest ? "week" : "today";
  const offset = Number(search.get("offset") ?? 0) || 0;
  const ofPeriod = (value: Period) => (value === "week" ? { period: value } : {});
  const setPeriod = (value: Period) => setSearch(ofPeriod(value));
  const query = useQuery(digest(period, offset));
  const date = query.data?.items.date;
  const ofDay = date === undefined ? todayText.title : todayText.day(utcDay(date));
  return (
    <Page
      title={period === "week" ? todayText.week : ofDay}
      actions={
        <>
          <Tabs label={todayText.period} values={PERIODS} value={period} onChange={setPeriod} />
          <May scope="recommendations:write">
            <Refresh />
          </May>
        </>
      }
    >
      <Answer query={query}>
        {({ items, total }) => (
          <>
            {items.total > 0 ? <List digest={items} wish={wish} /> : <Nothing digest={items} wish={wish} />}
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
