import { createElement, type ComponentChildren } from "preact";
import { Link } from "wouter-preact";

import type { Element, Node } from "./markdown";

interface Picture {
  src: string;
  width: number;
  height: number;
}

export type Pictures = Readonly<Record<string, Picture>>;

/** An address of a page of ours is opened without loading it anew. */
function Anchor({ href, children }: { href: string; children: ComponentChildren }) {
  if (href.startsWith("/docs")) return <Link href={`~${href}`}>{children}</Link>;
  if (href.startsWith("#")) return <a href={href}>{children}</a>;
  return (
    <a href={href} rel="noopener noreferrer" target="_blank">
      {children}
    </a>
  );
}

function drawn({ tag, attributes = {}, children }: Element, pictures: Pictures): ComponentChildren {
  const inner = <Nodes nodes={children} pictures={pictures} />;
  if (tag === "a") return <Anchor href={attributes["href"] ?? ""}>{inner}</Anchor>;
  if (tag === "img") return <img class="picture" loading="lazy" alt={attributes["alt"]} {...pictures[attributes["src"] ?? ""]} />;
  return createElement(tag, attributes, inner);
}

/** What markdown.ts made of a text. */
export function Nodes({ nodes, pictures = {} }: { nodes: readonly Node[]; pictures?: Pictures }) {
  return <>{nodes.map((node) => (typeof node === "string" ? node : drawn(node, pictures)))}</>;
}
