/** How numbers, times and scores are written. Figures by Intl, in the browser's language; words are in text.ts. */
import { text } from "../text";

const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });
const LOCAL = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });
const UTC = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });
const DAY = new Intl.DateTimeFormat("en", { weekday: "long", day: "numeric", month: "long", timeZone: "UTC" });
const DATE = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" });
const COUNT = new Intl.NumberFormat("en");

/** From the longest: seconds of the unit. */
const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** `3 hr. ago`, `in 2 days`, `now`. */
export function relative(time: Date, now = new Date()): string {
  const seconds = (time.getTime() - now.getTime()) / 1000;
  for (const [unit, size] of UNITS) if (Math.abs(seconds) >= size) return RELATIVE.format(Math.trunc(seconds / size), unit);
  return text.now;
}

/** The local time and UTC, for who points at a relative time. */
export function absolute(time: Date): string {
  return `${LOCAL.format(time)} (${UTC.format(time)} UTC)`;
}

/** The day `2026-01-31` with its weekday. Days of the API are of UTC. */
export function utcDay(day: string): string {
  return DAY.format(new Date(day));
}

/** Of `2026-01-31`. */
export function date(day: string): string {
  return DATE.format(new Date(day));
}

const HOUR = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hour12: false });

/** The hour of a day: `09:00`. */
export function hour(time: Date): string {
  return HOUR.format(time);
}

/** From the longest: milliseconds of the unit, and its sign. */
const DURATIONS: readonly [number, string][] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

/** A time span, by its largest unit: `1.5 h`, `310 ms`. */
export function duration(ms: number): string {
  for (const [size, unit] of DURATIONS) if (ms >= size) return `${(ms / size).toFixed(ms < 10 * size ? 1 : 0)} ${unit}`;
  return `${ms} ms`;
}

export function count(value: number): string {
  return COUNT.format(value);
}

/** `3 papers`, `1 paper`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Dollars: `$1.24`, `$312`. */
export function dollars(value: number): string {
  const digits = Math.abs(value) < 100 ? 2 : 0;
  return value.toLocaleString("en", { style: "currency", currency: "USD", minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export function percent(value: number): string {
  return value.toLocaleString("en", { style: "percent", maximumFractionDigits: 0 });
}

const FIGURE = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const CHANGE = new Intl.NumberFormat("en", { style: "percent", maximumSignificantDigits: 3, signDisplay: "exceptZero" });

/** A number whose size is not known before: `0.0312`, `1,250`. */
export function figure(value: number): string {
  return FIGURE.format(value);
}

const DIFFERENCE = new Intl.NumberFormat("en", { maximumSignificantDigits: 6, signDisplay: "exceptZero" });

/** A difference as it was typed or computed, without the noise of binary fractions: `+0.048`. */
export function difference(value: number): string {
  return DIFFERENCE.format(value);
}

const PLAIN = new Intl.NumberFormat("en", { maximumSignificantDigits: 6, useGrouping: false });

const INSTANT = /^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2})$/;

/** A value of any form, in a sentence: times are local. */
export function anything(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") return PLAIN.format(value);
  if (Array.isArray(value)) return value.map(anything).join(", ");
  if (typeof value !== "string") return JSON.stringify(value);
  return INSTANT.test(value) ? LOCAL.format(new Date(value)) : value;
}

/** A name of the API as words: `timed_out` is `timed out`, `pr_opened` is `pull request opened`. */
export function spoken(name: string): string {
  return name.replace(/^pr_/, "pull_request_").replaceAll("_", " ");
}

/** A change relative to what was there: `+12.5%`. */
export function change(value: number): string {
  return CHANGE.format(value);
}

/** `.83`, as scores are written everywhere. */
export function score(value: number): string {
  return value >= 0.995 ? "1.0" : value.toFixed(2).replace(/^0/, "");
}

interface Relevance {
  word: string;
  bars: number; // 0 to 4
}

/** From the highest: the bounds of the description's `relevance_score`. */
const RELEVANCE: readonly [number, string, number][] = [
  [0.9, text.score.subject, 4],
  [0.8, text.score.subject, 3],
  [0.6, text.score.related, 2],
  [0.4, text.score.loose, 1],
];

export function relevance(value: number): Relevance {
  for (const [bound, word, bars] of RELEVANCE) if (value >= bound) return { word, bars };
  return { word: text.score.none, bars: 0 };
}

/** The first names of a list, and how many more: `A. Author, B. Author and 4 more`. */
export function names(list: readonly string[], shown = 3): string {
  const rest = list.length - shown;
  if (rest <= 0) return list.join(", ");
  return `${list.slice(0, shown).join(", ")} and ${rest} more`;
}

/** The address if a link may lead there; undefined: text that somebody else wrote must not become a link. */
export function safeLink(address: string | null | undefined): string | undefined {
  return address && /^https?:\/\//i.test(address) ? address : undefined;
}
