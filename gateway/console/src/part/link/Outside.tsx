import type { ComponentChildren } from "preact";

import { safeLink } from "../../api/format";
import { Unknown } from "../Time";

interface Props {
  address: string | null | undefined;
  children?: ComponentChildren; // without: the address, without its host
}

/** A link out of the console. What must not become a link stays text. */
export function Outside({ address, children }: Props) {
  const safe = safeLink(address);
  if (!safe) return <>{children ?? <Unknown />}</>;
  return (
    <a href={safe} rel="noopener noreferrer" target="_blank">
      {children ?? safe.replace(/^https?:\/\/[^/]+\//, "")}
    </a>
  );
}
