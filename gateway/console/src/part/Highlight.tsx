import type { ComponentChildren } from "preact";

const ENTITIES: Readonly<Record<string, string>> = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&amp;": "&" };

const plain = (html: string) => html.replace(/&(?:lt|gt|quot|#39|amp);/g, (entity) => ENTITIES[entity] ?? entity);

/** A text of the search, in which `<em>` stands around matches and all else is escaped: text nodes are made of it, never HTML. */
export function Highlight({ html }: { html: string }): ComponentChildren {
  return html.split(/<em>(.*?)<\/em>/s).map((part, index) => (index % 2 === 0 ? plain(part) : <mark key={index}>{plain(part)}</mark>));
}
