import { Link } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { PaperMeta } from "../../part/PaperMeta";
import { Score } from "../../part/Score";

/** A paper of a list. */
export function PaperRow({ paper, score }: { paper: Schemas["Asset"]; score?: number }) {
  return (
    <article class="row">
      <h3 class="card-title">
        <Link href={`/papers/${encodeURIComponent(paper.arxiv_id)}`}>{paper.title}</Link>
      </h3>
      <PaperMeta paper={paper} />
      {score !== undefined && <Score value={score} />}
    </article>
  );
}
