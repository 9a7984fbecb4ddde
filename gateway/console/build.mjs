/**
 * Builds the console into the folder DIR: index.html, assets/NAME-HASH.*, each also as .gz and .br, and manifest.json, by
 * which the gateway serves them. Fails when a page is larger than its goal.
 *
 * usage: node build.mjs DIST
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

import { build } from "esbuild";

import { guideModules } from "./guide.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const GOALS = { script: 60 * 1024, style: 12 * 1024, page: 25 * 1024 }; // bytes of gzip; script and style: of the first load
const PACKAGE = /^node_modules\/(@[^/]+\/)?[^/]+/; // its folder
const TYPES = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  png: "image/png",
};

/** The packages whose code is in the outputs, with their licences. */
function packagesOf(outputs) {
  const used = Object.values(outputs).flatMap(({ inputs }) => Object.entries(inputs));
  const folders = used.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => PACKAGE.exec(path)?.[0]);
  return [...new Set(folders.filter(Boolean))].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(HERE, folder, "package.json"), "utf8"));
    const file = readdirSync(join(HERE, folder)).find((each) => /^licen[cs]e/i.test(each));
    return { name, version, license, text: file ? readFileSync(join(HERE, folder, file), "utf8") : "" };
  });
}

/** The module `console:packages`, for the page of licences. */
const packagesModule = (packages) => ({
  name: "packages",
  setup(each) {
    each.onResolve({ filter: /^console:packages$/ }, ({ path }) => ({ path, namespace: "packages" }));
    each.onLoad({ filter: /.*/, namespace: "packages" }, () => ({ contents: JSON.stringify(packages), loader: "json" }));
  },
});

async function bundle(dist, { packages, guide, write }) {
  const { metafile } = await build({
    absWorkingDir: HERE,
    entryPoints: ["src/main.tsx"],
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    outdir: join(dist, "assets"),
    publicPath: "/console/assets/",
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2022",
    minify: true,
    legalComments: "none",
    metafile: true,
    write,
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [packagesModule(packages), guide],
    loader: { ".png": "file" },
    alias: { react: "preact/compat", "react-dom": "preact/compat" },
  });
  return metafile.outputs;
}

/** The names of the entry's files, and of the scripts that it imports when it starts. */
function firstLoad(outputs) {
  const [entry, output] = Object.entries(outputs).find(([, each]) => each.entryPoint === "src/main.tsx");
  const scripts = new Set();
  const follow = (path) => {
    if (scripts.has(path)) return;
    scripts.add(path);
    for (const each of outputs[path].imports) if (each.kind === "import-statement") follow(each.path);
  };
  follow(entry);
  return { scripts: [...scripts], style: output.cssBundle };
}

const fileName = (path) => path.split("/").at(-1);

function writePage(dist, { scripts, style }) {
  const page = readFileSync(join(HERE, "src/index.html"), "utf8")
    .replace("SCRIPT", `/console/assets/${fileName(scripts[0])}`)
    .replace("STYLE", `/console/assets/${fileName(style)}`);
  writeFileSync(join(dist, "index.html"), page);
}

function writeCompressed(path, bytes) {
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
}

/** Write the compressed forms of each file but pictures, and the manifest: type, length and SHA-256 of each. */
function writeManifest(dist) {
  const files = {};
  for (const name of ["index.html", ...readdirSync(join(dist, "assets")).map((each) => `assets/${each}`)]) {
    const bytes = readFileSync(join(dist, name));
    const compressed = !name.endsWith(".png");
    if (compressed) writeCompressed(join(dist, name), bytes);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    files[name] = { type: TYPES[name.split(".").at(-1)], length: bytes.length, sha256, compressed };
  }
  writeFileSync(join(dist, "manifest.json"), JSON.stringify({ files }, null, 1));
}

function checkGoals(dist, outputs, first) {
  const size = (path) => gzipSync(readFileSync(join(dist, "assets", fileName(path))), { level: 9 }).length;
  const sum = (paths) => paths.reduce((total, path) => total + size(path), 0);
  const pages = Object.keys(outputs).filter((path) => path.endsWith(".js") && !first.scripts.includes(path));
  const rows = [
    ["first load, script", sum(first.scripts), GOALS.script],
    ["first load, style", size(first.style), GOALS.style],
  ];
  for (const path of pages) rows.push([fileName(path), size(path), GOALS.page]);
  for (const [what, bytes, goal] of rows) {
    console.log(`${what.padEnd(40)} ${String(bytes).padStart(7)} of ${goal} bytes of gzip`);
    if (bytes > goal) process.exitCode = 1;
  }
}

const dist = process.argv[2];
if (!dist) {
  console.error("usage: node build.mjs DIST");
  process.exit(2);
}
rmSync(dist, { recursive: true, force: true });
mkdirSync(join(dist, "assets"), { recursive: true });
const guide = await guideModules();
const packages = packagesOf(await bundle(dist, { packages: [], guide, write: false }));
const outputs = await bundle(dist, { packages, guide, write: true });
const first = firstLoad(outputs);
writePage(dist, first);
writeManifest(dist);
checkGoals(dist, outputs, first);
