/** Judges requests and answers by the code host's description, with the router and the validators of `prism proxy`.
 *
 * Prism itself is not started, because it also loads everything that it makes up answers with (4 s), follows redirects and
 * normalises paths. Beyond Prism's rules, a query parameter or a member of a body that the description does not have is a
 * violation (a typing error, which the code host would ignore), and so is a missing User-Agent, which it refuses. */
import { createRequire } from "node:module";

import { readDescription } from "./description.mjs";

const require = createRequire(import.meta.url);
const { default: route } = require("@stoplight/prism-http/dist/router");
const { validateInput, validateOutput } = require("@stoplight/prism-http/dist/validator");
const { getHttpOperationsFromSpec } = require("@stoplight/prism-http/dist/utils/operations");

const SEVERITY_ERROR = 0; // of @stoplight/types

/** Parameters that stand for the rest of a path, slashes included, though OpenAPI 3 has no way to say so. */
const REST_OF_PATH = /^(\/repos\/[^/]+\/[^/]+\/(?:contents|git\/refs?|branches|commits|compare)\/)(.+)$/;

/** The path as the description has it: one segment for each parameter. */
function pathForRouting(pathname) {
  const match = REST_OF_PATH.exec(pathname);
  return match ? match[1] + match[2].replaceAll("/", "%2F") : pathname;
}

/** A parsed JSON text; undefined for an empty one, and null if it is no JSON. */
function parse(text) {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function problems(either) {
  if (either._tag === "Right") return [];
  const found = Array.isArray(either.left) ? either.left : [either.left];
  return found
    .filter(({ severity }) => (severity ?? SEVERITY_ERROR) === SEVERITY_ERROR)
    .map(({ path, message }) => (path?.length ? `${path.join(".")}: ${message}` : message));
}

function undeclaredQuery(operation, query) {
  const declared = new Set((operation.request?.query ?? []).map(({ name }) => name));
  return Object.keys(query)
    .filter((name) => !declared.has(name))
    .map((name) => `query.${name}: is not in the description`);
}

function undeclaredMembers(operation, body) {
  const schema = operation.request?.body?.contents?.[0]?.schema;
  if (!schema?.properties || body === null || typeof body !== "object") return [];
  return Object.keys(body)
    .filter((name) => !(name in schema.properties))
    .map((name) => `body.${name}: is not in the description`);
}

export class Judge {
  static async create() {
    return new Judge(await getHttpOperationsFromSpec(readDescription()));
  }

  constructor(operations) {
    this.operations = operations;
  }

  /** Judge a request: `{operation, violations}`; the operation is undefined when none matches.
   * `headers` has names in lower case, `text` is the body. */
  request(method, url, headers, text) {
    const input = {
      method: method.toLowerCase(),
      url: { path: pathForRouting(url.pathname), query: Object.fromEntries(url.searchParams) },
      headers,
      body: parse(text),
    };
    const found = route({ resources: this.operations, input });
    if (found._tag === "Left") {
      return { operation: undefined, violations: [found.left.detail ?? found.left.message] };
    }
    const operation = found.right;
    const violations = [
      ...problems(validateInput({ resource: operation, element: input })),
      ...undeclaredQuery(operation, input.url.query),
      ...undeclaredMembers(operation, input.body),
    ];
    if (input.body === null) violations.push("body: is not JSON");
    if (!headers["user-agent"]) violations.push("header.user-agent: is missing");
    return { operation, violations };
  }

  /** The violations of an answer to a request of `operation`. */
  answer(operation, status, headers, text) {
    const element = { statusCode: status, headers, body: parse(text) };
    return problems(validateOutput({ resource: operation, element }));
  }
}
