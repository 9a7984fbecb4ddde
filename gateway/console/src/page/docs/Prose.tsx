import { Nodes } from "../../part/Nodes";
import { nodesOf } from "../../part/markdown";

/** Only addresses of the web are links; the description's own are of its document. */
const linkTo = (href: string) => (/^https?:/.test(href) ? href : null);

/** A text of the description, which is Markdown. */
export function Prose({ children }: { children: string }) {
  return (
    <div class="guide-text">
      <Nodes nodes={nodesOf(children, linkTo)} />
    </div>
  );
}
