import { Link } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { Highlight } from "../../part/Highlight";
import { PaperMeta } from "../../part/PaperMeta";
import { useRowKeys } from "../../part/rows";
import { Score } from "../../part/Score";

interface Props {
  paper: Schemas["Asset"];
  score?: number;
  highlights?: Schemas["SearchHit"]["highlights"]; // what of it matches
}

/** A paper of a list. Its title is that of the highlights, if that matches; other parts follow. */
export function PaperRow({ paper, score, highlights = [] }: Props) {
  useRowKeys();
  const title = highlights.find(({ field }) => field === "title");
  return (
    <article class="row" data-row tabIndex={-1}>
      <h3 class="card-title">
        <Link href={`/papers/${encodeURIComponent(paper.arxiv_id)}`}>{title ? <Highlight html={title.text} /> : paper.title}</Link>
      </h3>
      <PaperMeta paper={paper} />
      {highlights
        .filter((each) => each !== title)
        .map(({ field, text: html }) => (
          <p key={`${field} ${html}`} class="small">
            <Highlight html={html} />
          </p>
        ))}
      {score !== undefined && <Score value={score} />}
    </article>
  );
}
