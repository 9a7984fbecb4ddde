import type { ComponentChildren } from "preact";

import { State, type Tone } from "../../part/State";

interface Props {
  number: number;
  title: string;
  tone: Tone;
  state: string; // what there is, or what is missing
  children?: ComponentChildren;
}

/** One step of the way: what it is, how far it is, and what can be done. */
export function Step({ number, title, tone, state, children }: Props) {
  return (
    <li class="step">
      <h2>
        {number}. {title}
      </h2>
      <p>
        <State tone={tone}>{state}</State>
      </p>
      {children}
    </li>
  );
}
