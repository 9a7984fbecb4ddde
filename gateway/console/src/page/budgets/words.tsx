import { useQuery } from "@tanstack/preact-query";

import type { Schemas } from "../../api/client";
import { dollars } from "../../api/format";
import { interests } from "../../api/queries";
import { State, type Tone } from "../../part/State";
import { Unknown } from "../../part/Time";
import { budgetsText } from "./text";

export type Budget = Schemas["Budget"];

const WORDS = budgetsText;

const NEARLY_PERCENT = 80; // from here on the inbox has it

/** An amount that a key may not see, or that is not known yet, is a dash. */
export function Usd({ value }: { value: number | null | undefined }) {
  return typeof value === "number" ? <>{dollars(value)}</> : <Unknown />;
}

/** What the runs are of that a budget is about, in words; an interest is named, where it is known. */
export function useTarget(): (budget: Budget) => string {
  const known = useQuery(interests).data?.items ?? [];
  return ({ scope, repo, interest_id }) => {
    if (scope === "account") return WORDS.scopes.account;
    if (scope === "repo") return repo ?? WORDS.scopes.repo;
    return known.find(({ id }) => id === interest_id)?.name ?? WORDS.scopes.interest;
  };
}

function standing({ action, state }: Budget): readonly [Tone, string] {
  if (state.reached) return action === "stop" ? ["failed", WORDS.states.stopped] : ["waits", WORDS.states.spent];
  return (state.percent ?? 0) >= NEARLY_PERCENT ? ["waits", WORDS.states.nearly] : ["done", WORDS.states.within];
}

/** How a budget stands in its current period. */
export function BudgetState({ budget }: { budget: Budget }) {
  const [tone, words] = standing(budget);
  return <State tone={tone}>{words}</State>;
}
