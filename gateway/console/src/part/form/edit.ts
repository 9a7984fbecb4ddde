/** What a person changes of a thing that exists. Only that is sent: what others change meanwhile stays, and is shown as it comes. */
import { useState } from "preact/hooks";

import { anything } from "../../api/format";
import { Problem } from "../../api/problem";
import { text } from "../../text";

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** The members of `now` that are not as `before`. */
export function changes<T extends object>(now: T, before: T): Partial<T> {
  const former = new Map<string, unknown>(Object.entries(before));
  return Object.fromEntries(Object.entries(now).filter(([name, value]) => !isSame(value, former.get(name)))) as Partial<T>;
}

export const OUTDATED = 412;

/** Throws that somebody else has changed it, where `now` is not as what was `read`: of a thing that has no version. */
export function requireSame<T extends object>(read: T, now: T): void {
  if (Object.keys(changes(now, read)).length > 0) throw new Problem(OUTDATED, text.outdated.title, text.outdated.lead, null);
}

/** Values of a field with what is shown for each. */
type Named = readonly (readonly [string, string])[];

interface Touched<Values> {
  values: Partial<Values>; // as they were typed
  was: Partial<Values>; // what the form showed before
}

export interface Edit<Values, Body> {
  values: Values;
  set: (change: Partial<Values>) => void;
  clear: () => void; // forget what was typed
  difference: () => Partial<Body>; // what is sent; throws the problem of a value that cannot be
  isChanged: boolean; // there is something to send
  meanwhile: ReadonlyMap<string, string>; // what to say of a member that was changed here and elsewhere
}

const NOTHING = { values: {}, was: {} };

/** Whether a difference has members; one that cannot be told has, so that *Save* can say why. */
function isSome(difference: () => object): boolean {
  try {
    return Object.keys(difference()).length > 0;
  } catch {
    return true;
  }
}

/** The values of a form: those that were `read` last, and above them what was typed. Each has the name by which its field asks for faults.
 * `bodyOf` is what is sent for values. `named`: of those that are shown otherwise. */
export function useEdit<Values extends object, Body extends object>(
  read: Values,
  bodyOf: (values: Values) => Body,
  named: { readonly [Name in keyof Values]?: Named } = {},
): Edit<Values, Body> {
  const [touched, setTouched] = useState<Touched<Values>>(NOTHING);
  const set = (change: Partial<Values>) =>
    setTouched(({ values, was }) => {
      const shown = Object.entries({ ...read, ...values }).filter(([name]) => name in change);
      return { values: { ...values, ...change }, was: { ...(Object.fromEntries(shown) as Partial<Values>), ...was } };
    });
  const values = { ...read, ...touched.values };
  const mine = changes(values, read);
  const elsewhere = Object.entries(changes(read, { ...read, ...touched.was })).filter(([name]) => name in mine);
  const names = new Map<string, Named | undefined>(Object.entries(named));
  const shown = (name: string, value: unknown) => names.get(name)?.find(([each]) => each === value)?.[1] ?? anything(value);
  const difference = () => changes(bodyOf(values), bodyOf(read));
  return {
    values,
    set,
    clear: () => setTouched(NOTHING),
    difference,
    isChanged: Object.keys(mine).length > 0 && isSome(difference),
    meanwhile: new Map(elsewhere.map(([name, value]) => [name, text.outdated.field(shown(name, value))])),
  };
}
