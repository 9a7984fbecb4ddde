/** The digest of an endpoint as people choose it: on which days, when, and in which time zone. */
import type { Schemas } from "../../api/client";
import { zoneHere } from "../../api/zone";

type Digest = Schemas["WebhookDigest"];

const DAYS = { weekdays: [1, 2, 3, 4, 5], daily: [1, 2, 3, 4, 5, 6, 7] } as const;

export type DigestDays = "none" | "custom" | keyof typeof DAYS;

/** Each under its name in the API. */
export interface DigestChoice {
  "digest.weekdays": DigestDays; // custom: those that it has
  "digest.hour": string; // with the minute: 08:30
  "digest.time_zone": string;
}

function daysOf(weekdays: readonly number[]): DigestDays {
  const same = (days: readonly number[]) => days.length === weekdays.length && days.every((day) => weekdays.includes(day));
  if (same(DAYS.weekdays)) return "weekdays";
  return same(DAYS.daily) ? "daily" : "custom";
}

const twoDigits = (value: number) => String(value).padStart(2, "0");

export function choiceOf(digest: Digest | null): DigestChoice {
  return {
    "digest.weekdays": digest ? daysOf(digest.weekdays) : "none",
    "digest.hour": digest ? `${twoDigits(digest.hour)}:${twoDigits(digest.minute)}` : "08:00",
    "digest.time_zone": digest?.time_zone ?? zoneHere(),
  };
}

/** The members that the form does not show. */
function keptOf({ weekdays, interest_ids, limit, min_score, skip_empty, period }: Digest) {
  return { weekdays, interest_ids, limit, min_score, skip_empty, period };
}

/** What is sent for a choice. What it does not say stays as it `was`. */
export function digestOf(choice: DigestChoice, was: Digest | null): Schemas["WebhookDigestCreate"] | null {
  const days = choice["digest.weekdays"];
  if (days === "none") return null;
  const [hour = 0, minute = 0] = choice["digest.hour"].split(":").map(Number);
  const chosen = { hour, minute, time_zone: choice["digest.time_zone"], ...(days === "custom" ? {} : { weekdays: [...DAYS[days]] }) };
  return { ...(was && keptOf(was)), ...chosen };
}
