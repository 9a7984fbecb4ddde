/** The digest of an endpoint as people choose it: on which days, when, and in which time zone. */
import type { Schemas } from "../../api/client";

type Digest = Schemas["WebhookDigest"];

const DAYS = { weekdays: [1, 2, 3, 4, 5], daily: [1, 2, 3, 4, 5, 6, 7] } as const;

export type DigestDays = "none" | "custom" | keyof typeof DAYS;

export interface DigestChoice {
  days: DigestDays; // custom: those that it has
  time: string; // 08:30
  zone: string;
}

function daysOf(weekdays: readonly number[]): DigestDays {
  const same = (days: readonly number[]) => days.length === weekdays.length && days.every((day) => weekdays.includes(day));
  if (same(DAYS.weekdays)) return "weekdays";
  return same(DAYS.daily) ? "daily" : "custom";
}

const twoDigits = (value: number) => String(value).padStart(2, "0");

export function choiceOf(digest: Digest | null): DigestChoice {
  if (!digest) return { days: "none", time: "08:00", zone: Intl.DateTimeFormat().resolvedOptions().timeZone };
  return { days: daysOf(digest.weekdays), time: `${twoDigits(digest.hour)}:${twoDigits(digest.minute)}`, zone: digest.time_zone };
}

/** The members that the form does not show. */
function keptOf({ weekdays, interest_ids, limit, min_score, skip_empty, period }: Digest) {
  return { weekdays, interest_ids, limit, min_score, skip_empty, period };
}

/** What is sent for a choice. What it does not say stays as it `was`. */
export function digestOf({ days, time, zone }: DigestChoice, was: Digest | null): Schemas["WebhookDigestCreate"] | null {
  if (days === "none") return null;
  const [hour, minute] = time.split(":").map(Number);
  const chosen = { hour: hour ?? 0, minute: minute ?? 0, time_zone: zone, ...(days === "custom" ? {} : { weekdays: [...DAYS[days]] }) };
  return { ...(was && keptOf(was)), ...chosen };
}
