/** What a person changes of a thing that exists. Only that is sent: what others change meanwhile stays, and is shown as it comes. */
import { useState } from "preact/hooks";

import { anything } from "../../api/format";
import { text } from "../../text";

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** The members of `now` that are not as `before`. */
export function changes<T extends object>(now: T, before: T): Partial<T> {
  const former = new Map<string, unknown>(Object.entries(before));
  return Object.fromEntries(Object.entries(now).filter(([name, value]) => !isSame(value, former.get(name)))) as Partial<T>;
}

interface Touched<Values> {
  values: Partial<Values>; // as they were typed
  was: Partial<Values>; // what the form showed before
}

export interface Edit<Values> {
  values: Values;
  set: (change: Partial<Values>) => void;
  clear: () => void; // forget what was typed
  isChanged: boolean;
  meanwhile: ReadonlyMap<string, string>; // what to say of a member that was changed here and elsewhere
}

const NOTHING = { values: {}, was: {} };

/** The values of a form: those that were `read` last, and above them what was typed. */
export function useEdit<Values extends object>(read: Values): Edit<Values> {
  const [touched, setTouched] = useState<Touched<Values>>(NOTHING);
  const set = (change: Partial<Values>) =>
    setTouched(({ values, was }) => {
      const shown = Object.entries({ ...read, ...values }).filter(([name]) => name in change);
      return { values: { ...values, ...change }, was: { ...(Object.fromEntries(shown) as Partial<Values>), ...was } };
    });
  const values = { ...read, ...touched.values };
  const mine = changes(values, read);
  const elsewhere = Object.entries(changes(read, { ...read, ...touched.was })).filter(([name]) => name in mine);
  return {
    values,
    set,
    clear: () => setTouched(NOTHING),
    isChanged: Object.keys(mine).length > 0,
    meanwhile: new Map(elsewhere.map(([name, value]) => [name, text.outdated.field(anything(value))])),
  };
}
