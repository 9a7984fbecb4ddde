/** The period of the report on all agents: its last days, kept in the address. */
import { useSearchParams } from "wouter-preact";

const DAY_MS = 86_400_000;

export const PERIODS = ["30", "7"] as const;

export type Days = (typeof PERIODS)[number];

export function usePeriod(): [Days, (days: Days) => void] {
  const [address, setAddress] = useSearchParams();
  const change = (days: Days) => setAddress(days === PERIODS[0] ? {} : { days });
  return [PERIODS.find((days) => days === address.get("days")) ?? PERIODS[0], change];
}

/** The first of so many days, of which today, in UTC, is the last. */
export function firstOf(days: Days): string {
  return new Date(Date.now() - (Number(days) - 1) * DAY_MS).toISOString().slice(0, 10);
}
