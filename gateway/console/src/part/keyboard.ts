/** Keys without a modifier (WCAG 2.1.4: they can be switched off, and are off while a field has the focus). */
import { useEffect, useRef } from "preact/hooks";

const SWITCH = "expops.keys";

export function keysAreOn(): boolean {
  return localStorage.getItem(SWITCH) !== "off";
}

export function switchKeys(on: boolean): void {
  localStorage.setItem(SWITCH, on ? "on" : "off");
}

function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

/** Enter presses what has the focus. */
function isPressing({ key, target }: KeyboardEvent): boolean {
  return key === "Enter" && target instanceof Element && target.closest("a, button, summary") !== null;
}

function isOurs(event: KeyboardEvent): boolean {
  const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
  if (!keysAreOn() || hasModifier || event.defaultPrevented || isWriting(event.target) || isPressing(event)) return false;
  return !document.querySelector("dialog[open]");
}

type Bindings = Readonly<Record<string, () => void>>;

/** Bind keys, such as `j` or `?`, while the component is shown. A key has what was bound at the last drawing: the next may come
 * before an effect runs. */
export function useKeys(bindings: Bindings): void {
  const latest = useRef(bindings);
  latest.current = bindings;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const action = latest.current[event.key];
      if (!action || !isOurs(event)) return;
      event.preventDefault();
      action();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}

/** The state of the history with which a page is opened whose search gets the focus. */
export const TO_SEARCH = "search";

const SEQUENCE_MS = 1500;

/** Bind keys that follow `first`, such as `t` of `g t`. */
export function useKeySequence(first: string, bindings: Bindings): void {
  useEffect(() => {
    let startedAt = -Infinity;
    const onKey = (event: KeyboardEvent) => {
      if (!isOurs(event)) return;
      const action = event.timeStamp - startedAt < SEQUENCE_MS ? bindings[event.key] : undefined;
      startedAt = event.key === first ? event.timeStamp : -Infinity;
      if (!action) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      action();
    };
    addEventListener("keydown", onKey, { capture: true });
    return () => removeEventListener("keydown", onKey, { capture: true });
  }, [first, bindings]);
}
