import type { Signal } from "./rating";

/** What the address of a message asks for: a paper, with what was chosen for it, or an interest. */
export interface Wish {
  paper: string | null;
  signal: Signal | undefined;
  isPlan: boolean;
  interest: string | null;
}

const CHOICES = ["like", "save", "dislike", "dismiss"] as const;

export function wishOf(address: URLSearchParams): Wish {
  const choice = address.get("signal");
  const signal = CHOICES.find((each) => each === choice);
  return { paper: address.get("recommendation"), signal, isPlan: choice === "plan", interest: address.get("interest") };
}
