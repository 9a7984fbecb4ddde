/** Answers of the stand-in, and what its handlers share. */

export function json(status, body, headers = {}) {
  const text = body === null ? null : JSON.stringify(body);
  const type = text === null ? {} : { "content-type": "application/json; charset=utf-8" };
  return new Response(text, { status, headers: { ...type, "x-stand-in": "1", ...headers } });
}

export function problem(status, message) {
  return json(status, { message, documentation_url: "https://docs.github.com/rest", status: String(status) });
}

/** The value after `Bearer` or `token`; "" without one. */
export function bearerOf(headers) {
  return /^(?:bearer|token)\s+(.*)$/i.exec(headers.get("authorization") ?? "")?.[1].trim() ?? "";
}

/** Mark handlers whose path begins after `/repos/{owner}/{repo}`. */
export function ofRepository(routes) {
  for (const [, , handler] of routes) handler.isOfRepository = true;
  return routes;
}
