import { names, safeLink } from "../api/format";
import type { Schemas } from "../api/client";
import { text } from "../text";
import { Time } from "./Time";

/** Who wrote a paper, where it belongs, what comes with it: one quiet line. */
export function PaperMeta({ paper }: { paper: Schemas["Asset"] }) {
  const code = safeLink(paper.github_url);
  return (
    <p class="meta">
      <span>{names(paper.authors)}</span>
      <span>{paper.categories.join(" ")}</span>
      <Time at={paper.published_at} />
      {paper.withdrawn && <strong class="warm">{text.paper.withdrawn}</strong>}
      {code && (
        <a href={code} rel="noopener noreferrer" target="_blank">
          {text.paper.code}
        </a>
      )}
      {paper.has_container && <span>{text.paper.container}</span>}
    </p>
  );
}
