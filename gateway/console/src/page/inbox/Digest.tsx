import { useQuery } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import type { Schemas } from "../../api/client";
import { safeLink } from "../../api/format";
import { Answer } from "../../part/Answer";
import { digest } from "./queries";
import { inboxText } from "./text";

const DIGESTED: readonly Schemas["InboxItem"]["kind"][] = ["pull_request_waiting", "issue_waiting", "setup_waiting"];

function Words({ href }: { href: string }) {
  return <Answer query={useQuery(digest(href))}>{(answer) => <p class="read prose">{answer.digest}</p>}</Answer>;
}

/** What a pull request or an issue is, in a few sentences that are made when they are wanted. */
export function Digest({ item: { kind, href } }: { item: Schemas["InboxItem"] }) {
  const [isOpen, setIsOpen] = useState(false);
  const address = safeLink(href);
  if (!address || !DIGESTED.includes(kind)) return null;
  return (
    <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary class="small">{inboxText.digest}</summary>
      {isOpen && <Words href={address} />}
    </details>
  );
}
