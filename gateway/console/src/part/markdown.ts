/** Markdown as a tree that Preact draws. No HTML is made of it, so a text can become nothing that is not in the table below.
 *
 * The build compiles the guide with it; the page of the API reads the texts of the description.
 */
import { lexer, type MarkedToken, type Token, type Tokens } from "marked";

export type Node = string | Element;

export interface Element {
  tag: string;
  attributes?: Readonly<Record<string, string>>;
  children: readonly Node[];
}

/** Where an address in the text leads; null: nowhere, and only its words are shown. */
type LinkTo = (href: string) => string | null;

type Kind = MarkedToken["type"];
type Readers = { readonly [K in Kind]?: (token: Extract<MarkedToken, { type: K }>, linkTo: LinkTo) => Node[] };

const element = (tag: string, children: readonly Node[], attributes?: Element["attributes"]): Node[] => [
  attributes ? { tag, attributes, children } : { tag, children },
];

function wordsOf(node: Node): string {
  return typeof node === "string" ? node : node.children.map(wordsOf).join("");
}

/** The anchor of a heading: `More of: kernels` is `more-of-kernels`. */
function anchorOf(children: readonly Node[]): string {
  const words = children.map(wordsOf).join("").toLowerCase();
  return words.replaceAll(/[^\p{L}\p{N}\s-]/gu, "").replaceAll(/\s+/gu, "-");
}

function heading(token: Tokens.Heading, linkTo: LinkTo): Node[] {
  const children = nodes(token.tokens, linkTo);
  return element(`h${String(token.depth)}`, children, { id: anchorOf(children) });
}

function cells(tag: string, row: readonly Tokens.TableCell[], linkTo: LinkTo, scope?: string): Node[] {
  return row.flatMap((cell) => element(tag, nodes(cell.tokens, linkTo), scope ? { scope } : undefined));
}

function table(token: Tokens.Table, linkTo: LinkTo): Node[] {
  const rows = token.rows.flatMap(([first, ...rest]) =>
    element("tr", [...cells("th", first ? [first] : [], linkTo, "row"), ...cells("td", rest, linkTo)]),
  );
  const head = element("tr", cells("th", token.header, linkTo, "col"));
  return element("table", [...element("thead", head), ...element("tbody", rows)], { class: "table" });
}

function link(token: Tokens.Link, linkTo: LinkTo): Node[] {
  const href = linkTo(token.href);
  const children = nodes(token.tokens, linkTo);
  return href === null ? children : element("a", children, { href });
}

const READERS: Readers = {
  heading,
  table,
  link,
  paragraph: (token, linkTo) => element("p", nodes(token.tokens, linkTo)),
  list: (token, linkTo) => element(token.ordered ? "ol" : "ul", nodes(token.items, linkTo)),
  list_item: (token, linkTo) => element("li", nodes(token.tokens, linkTo)),
  text: (token, linkTo) => ("tokens" in token ? nodes(token.tokens, linkTo) : [token.text]),
  strong: (token, linkTo) => element("strong", nodes(token.tokens, linkTo)),
  em: (token, linkTo) => element("em", nodes(token.tokens, linkTo)),
  blockquote: (token, linkTo) => element("blockquote", nodes(token.tokens, linkTo)),
  code: (token) => element("pre", [token.text], { class: "command prose" }),
  codespan: (token) => element("code", [token.text]),
  image: (token) => element("img", [], { src: token.href, alt: token.text }),
  br: () => element("br", []),
  escape: (token) => [token.text],
  space: () => [],
};

function nodes(tokens: readonly Token[], linkTo: LinkTo): Node[] {
  return tokens.flatMap((token) => {
    const reader = READERS[token.type as Kind] as ((token: Token, linkTo: LinkTo) => Node[]) | undefined;
    return reader ? reader(token, linkTo) : [token.raw];
  });
}

export function nodesOf(markdown: string, linkTo: LinkTo): Node[] {
  return nodes(lexer(markdown), linkTo);
}
