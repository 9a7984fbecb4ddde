import { useQuery } from "@tanstack/preact-query";
import { Link } from "wouter-preact";

import { explanation } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { todayText } from "./text";

/** The paper that a message has led to, when it is not among those of the page. */
export function Wanted({ id }: { id: string }) {
  return (
    <Answer query={useQuery(explanation(id))}>
      {({ resource_id }) => (
        <p class="lead">
          <Link href={`/papers/${encodeURIComponent(resource_id)}`}>{todayText.older}</Link>
        </p>
      )}
    </Answer>
  );
}
