/**
 * The guide: guide/README.md is its first section, which links the others in their order; every section has one title. It is
 * compiled into the modules `console:guide` (sections and pictures) and `console:sections` (their names). A link that leads
 * nowhere fails the build.
 */
import { readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const FOLDER = fileURLToPath(new URL("guide", import.meta.url));
const FIRST = "README";
const LINK = /^(?:([a-zA-Z-]+)\.md)?(?:#(.+))?$/; // glossary.md#pool
const PNG_SIZE = 16; // of a PNG: width and height, four bytes each

const addressOf = (name) => (name === FIRST ? "/docs/guide" : `/docs/guide/${name}`);

/** The module at `path`, which is TypeScript. */
async function load(path) {
  const { outputFiles } = await build({ entryPoints: [path], bundle: true, format: "esm", platform: "node", write: false });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}

/** The elements with this tag, in the order of the text. */
function elementsOf(nodes, tag) {
  const elements = nodes.filter((node) => typeof node !== "string");
  return elements.flatMap((node) => [...(node.tag === tag ? [node] : []), ...elementsOf(node.children, tag)]);
}

/** A section, and the names of sections with the anchors that its links lead to. */
function sectionOf(name, nodesOf) {
  const links = [];
  const linkTo = (href) => {
    if (/^https?:/.test(href)) return href;
    const [matched, section = name, anchor] = LINK.exec(href) ?? [];
    if (!matched) throw new Error(`guide/${name}.md: ${href} is no section of the guide`);
    links.push([section, anchor]);
    return (section === name ? "" : addressOf(section)) + (anchor ? `#${anchor}` : "");
  };
  const [title, ...nodes] = nodesOf(readFileSync(join(FOLDER, `${name}.md`), "utf8"), linkTo);
  if (title?.tag !== "h1") throw new Error(`guide/${name}.md has no title`);
  return { name: name === FIRST ? "" : name, title: title.children.join(""), nodes, links };
}

function checkLinks(sections) {
  const anchors = new Map();
  for (const [name, { nodes }] of sections)
    anchors.set(
      name,
      ["h2", "h3"].flatMap((tag) => elementsOf(nodes, tag)).map((each) => each.attributes.id),
    );
  for (const [name, { links }] of sections)
    for (const [section, anchor] of links)
      if (!anchors.has(section) || (anchor && !anchors.get(section).includes(anchor)))
        throw new Error(`guide/${name}.md links ${section}.md${anchor ? `#${anchor}` : ""}, which is not there`);
}

/** The sections in the order in which the first one links them. */
async function read() {
  const { nodesOf } = await load("src/part/markdown.ts");
  const first = sectionOf(FIRST, nodesOf);
  const names = [...new Set([FIRST, ...first.links.map(([name]) => name)])];
  const missing = readdirSync(FOLDER).filter((file) => file.endsWith(".md") && !names.includes(basename(file, ".md")));
  if (missing.length > 0) throw new Error(`guide/README.md does not link ${missing.join(", ")}`);
  const sections = new Map(names.map((name) => [name, sectionOf(name, nodesOf)]));
  checkLinks(sections);
  return [...sections.values()].map(({ links: _, ...section }) => section);
}

/** The statements that import the pictures of the nodes, and an object of them. */
function picturesOf(sections) {
  const paths = [...new Set(sections.flatMap(({ nodes }) => elementsOf(nodes, "img")).map(({ attributes }) => attributes.src))];
  const rows = paths.map((path, index) => {
    const file = readFileSync(join(FOLDER, path));
    const [width, height] = [file.readUInt32BE(PNG_SIZE), file.readUInt32BE(PNG_SIZE + 4)];
    return `${JSON.stringify(path)}: {src: p${index}, width: ${width}, height: ${height}}`;
  });
  const imports = paths.map((path, index) => `import p${index} from ${JSON.stringify(path)};`);
  return `${imports.join("\n")}\nexport const pictures = {${rows.join(", ")}};`;
}

/** Plugin of esbuild. */
export async function guideModules() {
  const sections = await read();
  const contents = {
    "console:guide": `${picturesOf(sections)}\nexport const sections = ${JSON.stringify(sections)};`,
    "console:sections": `export const names = ${JSON.stringify(sections.map(({ name }) => name))};`,
  };
  return {
    name: "guide",
    setup(each) {
      each.onResolve({ filter: /^console:(guide|sections)$/ }, ({ path }) => ({ path, namespace: "guide" }));
      each.onLoad({ filter: /.*/, namespace: "guide" }, ({ path }) => ({ contents: contents[path], resolveDir: FOLDER }));
    },
  };
}
