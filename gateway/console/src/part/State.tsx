import type { ComponentChildren } from "preact";

/** The shapes of states (DESIGN.md): a shape and its word say the same, so nothing depends on colour. */
export type Tone = "done" | "running" | "waits" | "failed" | "off";

const PATHS: Readonly<Record<Tone, string>> = {
  done: "M6 1a5 5 0 1 0 0 10A5 5 0 0 0 6 1Z",
  running: "M6 1a5 5 0 0 0 0 10V1Zm0 0a5 5 0 0 1 0 10v-1.3a3.7 3.7 0 0 0 0-7.4V1Z",
  waits: "M6 1 11.5 11H.5Z",
  failed: "M1.5 1.5h9v9h-9Z",
  off: "M6 1a5 5 0 1 0 0 10A5 5 0 0 0 6 1Zm0 1.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7Z",
};

export function State({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return (
    <span class={`state state-${tone}`}>
      <svg viewBox="0 0 12 12" width="10" height="10" aria-hidden="true">
        <path d={PATHS[tone]} />
      </svg>
      {children}
    </span>
  );
}
