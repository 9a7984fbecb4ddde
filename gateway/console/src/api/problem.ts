/** What went wrong in a call: the service's problem document (RFC 9457), or that there was no answer. */
import { text } from "../text";

interface FieldFault {
  field: string;
  message: string;
}

export class Problem extends Error {
  constructor(
    readonly status: number /* 0: there was no answer */,
    readonly title: string,
    readonly detail: string,
    readonly requestId: string | null,
    readonly fields: readonly FieldFault[] = [],
    readonly scope: string | null = null,
    readonly slug: string | null = null,
  ) {
    super(detail || title);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(record: Record<string, unknown>, name: string): string | null {
  const value = record[name];
  return typeof value === "string" ? value : null;
}

function fieldsOf(record: Record<string, unknown>): FieldFault[] {
  const errors: unknown = record.errors;
  if (!Array.isArray(errors)) return [];
  return errors.filter(isRecord).map((error) => ({ field: textOf(error, "field") ?? "", message: textOf(error, "message") ?? "" }));
}

/** Refusals whose content is a member that is true, in place of a problem document. */
const FLAGS = { pool_building: text.poolBuilding } as const;

/** The words for such a content. */
function wordsOf(record: Record<string, unknown>): { title: string; detail: string } | undefined {
  return Object.entries(FLAGS).find(([name]) => record[name] === true)?.[1];
}

/** The problem of an answer. `body` is whatever its content was; an answer of something between here and the gateway has none. */
export function problemOf(response: Response, body: unknown): Problem {
  const record = isRecord(body) ? body : {};
  const words = wordsOf(record);
  return new Problem(
    response.status,
    textOf(record, "title") ?? words?.title ?? (response.statusText || text.refused(response.status)),
    textOf(record, "detail") ?? words?.detail ?? "",
    textOf(record, "instance") ?? response.headers.get("X-Request-Id"),
    fieldsOf(record),
    textOf(record, "scope"),
    textOf(record, "error"),
  );
}

/** `isRead`: the request would have changed nothing. */
export function noAnswer(isRead: boolean): Problem {
  const detail = isRead ? "Check the connection." : "Check the connection. It is not known whether this was done.";
  return new Problem(0, "The server does not answer", detail, null);
}

/** The message for a field of a form; undefined: it has no fault. */
export function faultOf(problem: Problem | null, field: string): string | undefined {
  return problem?.fields.find((fault) => fault.field === field)?.message;
}
