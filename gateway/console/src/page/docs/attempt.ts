/** A request that a person fills in: its values, its address, and what it is on a command line. */
import { exampleOf, type Operation, type Parameter } from "./description";

export interface Attempt {
  values: Readonly<Record<string, string>>; // of parameters, by name; an empty one is left out
  body: string; // JSON; empty: none
}

const inPlace = (operation: Operation, place: Parameter["in"]) => operation.parameters.filter((each) => each.in === place);

/** What is filled in at first: examples of what must be given. Ids of examples are nobody's. */
export function firstAttempt(operation: Operation): Attempt {
  const needed = operation.parameters.filter((each) => each.required && each.schema.format !== "uuid" && each.example !== undefined);
  const example = exampleOf(operation.body);
  return {
    values: Object.fromEntries(needed.map((each) => [each.name, String(each.example)])),
    body: example === undefined ? "" : JSON.stringify(example, null, 2),
  };
}

/** Parameters that must be given, and are not. */
export function missingOf(operation: Operation, { values }: Attempt): string[] {
  return operation.parameters.filter((each) => each.required && !values[each.name]).map((each) => each.name);
}

/** The path with its query. */
export function targetOf(operation: Operation, { values }: Attempt): string {
  const path = inPlace(operation, "path").reduce(
    (before, { name }) => before.replace(`{${name}}`, encodeURIComponent(values[name] ?? "")),
    operation.path,
  );
  const query = new URLSearchParams(inPlace(operation, "query").flatMap(({ name }) => (values[name] ? [[name, values[name]]] : [])));
  return query.size > 0 ? `${path}?${query.toString()}` : path;
}

function fieldsOf(operation: Operation, { values }: Attempt): [string, string][] {
  return inPlace(operation, "header").flatMap(({ name }) => (values[name] ? [[name, values[name]]] : []));
}

export function requestOf(operation: Operation, attempt: Attempt): Request {
  const init: RequestInit = { method: operation.method, headers: fieldsOf(operation, attempt), credentials: "same-origin" };
  if (attempt.body) init.body = attempt.body;
  return new Request(targetOf(operation, attempt), init);
}

const quoted = (word: string) => `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** The same with a key, for a shell. */
export function commandOf(operation: Operation, attempt: Attempt): string {
  const words = ["curl -sS"];
  if (operation.method !== "GET") words.push(`-X ${operation.method}`);
  if (operation.scope) words.push('-H "Authorization: Bearer $EXPOPS_KEY"');
  for (const [name, value] of fieldsOf(operation, attempt)) words.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (attempt.body) words.push("-H 'Content-Type: application/json'", `-d ${quoted(attempt.body)}`);
  words.push(`"$EXPOPS_URL"${quoted(targetOf(operation, attempt))}`);
  return words.join(" \\\n  ");
}
