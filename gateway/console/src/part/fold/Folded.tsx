import type { ComponentChildren } from "preact";

interface Props {
  name: string; // what is behind it
  isFolded: boolean;
  children: ComponentChildren;
}

/** Something that is seldom wanted, behind its name, or in sight as long as it is what has to be done. */
export function Folded({ name, isFolded, children }: Props) {
  if (!isFolded) return <>{children}</>;
  return (
    <details>
      <summary>{name}</summary>
      {children}
    </details>
  );
}
