/** The one way to call the API: typed by its description, in the session's name.
 *
 *     const digest = await answer(api.GET("/api/v1.0/papers/recommended/digest"));
 */
import createClient from "openapi-fetch";

import { sendOnce } from "./idempotency";
import { noAnswer, Problem, problemOf } from "./problem";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

/** With the cookie, a request that writes must say that its content is JSON, also when it has none. */
function withContentType(request: Request): Request {
  if (request.method === "GET" || request.method === "DELETE") return request;
  request.headers.set("Content-Type", "application/json");
  return request;
}

let shown: string | null = null;

/** The pages show this account from now on; null: none. */
export function showAccount(id: string | null): void {
  shown = id;
}

/** The gateway refuses a request for another account than that of the session, which another window may have switched. */
function withAccount(request: Request): Request {
  if (shown !== null) request.headers.set("X-Expops-Account", shown);
  return request;
}

/** Send a request as it is, whatever the answer; throws a Problem when there is none. */
export async function raw(request: Request): Promise<Response> {
  const isRead = request.method === "GET";
  const send = (each: Request) => fetch(withAccount(withContentType(each)));
  try {
    return await (isRead ? send(request) : sendOnce(request, shown, send));
  } catch {
    throw noAnswer(isRead);
  }
}

/** Send a request while the page is left: at once, since nothing that is awaited comes any more. */
export const leaving = (request: Request): Promise<Response> => fetch(withAccount(withContentType(request)));

export const api = createClient<paths, "application/json">({ baseUrl: location.origin, credentials: "same-origin", fetch: raw });

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

type Defined<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };

/** The members that are not undefined. */
export function defined<T extends object>(record: T): Defined<T> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Defined<T>;
}

type Listener = () => void;
const ended = new Set<Listener>();
const switched = new Set<Listener>();

function listen(listeners: Set<Listener>, listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Call `listener` when an answer says that the session has ended. Returns what stops that. */
export const onSessionEnded = (listener: Listener) => listen(ended, listener);

/** The same when an answer says that the session shows another account. */
export const onAccountChanged = (listener: Listener) => listen(switched, listener);

export const ACCOUNT_CHANGED = "account_changed";

function failure(response: Response, error: unknown): Problem {
  const problem = problemOf(response, error);
  if (problem.status === 401) ended.forEach((listener) => listener());
  if (problem.slug === ACCOUNT_CHANGED) switched.forEach((listener) => listener());
  return problem;
}

/** The content of a successful answer; throws a Problem. */
export async function answer<T>(call: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await call;
  if (!response.ok) throw failure(response, error);
  return data as T; // an answer without content has the type undefined
}

/** An object that was read, with its version: the tag that `If-Match` takes. */
export type Versioned<T> = T & { readonly etag: string | null };

/** As answer(), with the version of the object. */
export async function versioned<T>(call: Promise<Answer<T>>): Promise<Versioned<T>> {
  return { ...(await answer(call)), etag: (await call).response.headers.get("ETag") };
}

const WEAK = /^W\//;

/** The fields of a request that changes an object only while it has the version that was read. A proxy that compresses answers makes
 * their tags weak, and no weak one matches; it is the version that says which state was read. */
export function ifMatch({ etag }: { readonly etag: string | null }): { "If-Match"?: string } {
  return etag === null ? {} : { "If-Match": etag.replace(WEAK, "") };
}

/** Something as a file of this media type; throws a Problem. */
export async function file(path: string, type: string): Promise<Blob> {
  const response = await raw(new Request(new URL(path, location.origin), { headers: { Accept: type }, credentials: "same-origin" }));
  if (!response.ok) throw failure(response, await response.json().catch(() => undefined));
  return response.blob();
}

export interface Page<T> {
  items: T;
  total: number;
  leftOut: readonly string[];
}

/** Services that an answer lacks, because they did not answer in time. */
function leftOutOf(response: Response): string[] {
  return response.headers.get("X-Left-Out")?.split(" ") ?? [];
}

/** As answer(), with the services that it lacks. */
export async function withLeftOut<T>(call: Promise<Answer<T>>): Promise<{ data: T; leftOut: readonly string[] }> {
  return { data: await answer(call), leftOut: leftOutOf((await call).response) };
}

/** The same for a list, with the number of all its rows, which is in the field X-Total-Count. */
export async function page<T>(call: Promise<Answer<T>>): Promise<Page<T>> {
  const { data, error, response } = await call;
  if (!response.ok) throw failure(response, error);
  return { items: data as T, total: Number(response.headers.get("X-Total-Count") ?? 0), leftOut: leftOutOf(response) };
}

const EVERY_ROWS = 100;

/** A list with all its rows, which is read page by page. */
export async function every<Row>(read: (limit: number, offset: number) => Promise<Page<Row[]>>): Promise<Page<Row[]>> {
  let all = await read(EVERY_ROWS, 0);
  while (all.items.length < all.total) {
    const next = await read(EVERY_ROWS, all.items.length);
    if (next.items.length === 0) break; // rows went meanwhile
    all = { ...next, items: [...all.items, ...next.items] };
  }
  return all;
}
