/** The HTTP server in front of a service: it records requests, makes them fail on demand, and has them judged. Tests control
 * it below /_control/, with JSON bodies:
 *
 *     GET /health                  200
 *     GET /requests, /requests/N   all requests so far, or those after number N
 *     GET /violations              {"violations": of requests, "faults": of the service's own answers, "judged": how many
 *                                  requests and answers were judged}
 *     POST /judge                  the violations of an answer {"method", "path", "status", "body"}, for a test of the judge
 *     POST /failures               let the next requests fail: Failures.add()
 *     DELETE /failures             forget these
 */
import { createServer } from "node:http";

const REQUESTS_KEPT = 20000;
const BODY_KEPT = 65536;

async function readBody(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
}

/** What the next matching requests get in place of an answer of the service. */
class Failures {
  constructor() {
    this.rows = [];
  }

  /** `{method, path, actor, times, status, headers, body, drop, hang, before}`: `path` is a regular expression for the target.
   * `status`: answered by itself. Without one the service answers, then the connection is closed (`drop`) or kept open
   * without an answer (`hang`); with `before` these happen without asking the service. `headers` alone are added to the
   * service's answer. */
  add(row) {
    this.rows.push({ times: 1, headers: {}, ...row, path: new RegExp(row.path ?? "") });
  }

  clear() {
    this.rows = [];
  }

  take(method, target, actor) {
    const index = this.rows.findIndex(
      (row) => (!row.method || row.method === method) && (!row.actor || row.actor === actor) && row.path.test(target),
    );
    if (index < 0) return undefined;
    const row = this.rows[index];
    row.times -= 1;
    if (row.times <= 0) this.rows.splice(index, 1);
    return row;
  }
}

/** Whether a request is judged: one of the services, which name themselves, of the tests' own client, or of somebody without a
 * name, which is a violation itself. Who looks at the address with a browser is not judged. */
function isJudged(headers) {
  return /^(expops|test)\b/.test(headers["user-agent"] || "test");
}

export class Front {
  /** `answer(Request)` is the service: it returns a Response, or {status, headers, body}. `actorOf(headers)` names who
   * asks. `judge` may be missing. */
  constructor({ url, answer, judge, actorOf }) {
    Object.assign(this, { url, answer, judge, actorOf: actorOf ?? (() => null) });
    this.clear();
    this.controls = [
      ["GET", /^\/health$/, () => ({})],
      [
        "GET",
        /^\/requests(?:\/(\d+))?$/,
        (_, after) => this.requests.filter(({ number }) => number > Number(after ?? 0)),
      ],
      ["GET", /^\/violations$/, () => ({ violations: this.violations, faults: this.faults, judged: this.judged })],
      ["POST", /^\/judge$/, (body) => this.judgeGiven(body)],
      ["POST", /^\/failures$/, (body) => this.failures.add(body)],
      ["DELETE", /^\/failures$/, () => this.failures.clear()],
    ];
    this.server = createServer((request, reply) =>
      this.handle(request, reply).catch((error) => this.crash(error, request, reply)),
    );
  }

  clear() {
    this.requests = [];
    this.violations = [];
    this.faults = []; // of the service itself: answers against the description, and crashes
    this.judged = { requests: 0, answers: 0 };
    this.failures = new Failures();
    this.count = 0;
  }

  /** Add rows [method, path below /_control, handler(body, ...groups of the path, headers)]. */
  addControls(rows) {
    this.controls.push(...rows);
  }

  listen(port) {
    return new Promise((resolve, reject) => {
      this.server.once("error", reject);
      this.server.listen(port, "127.0.0.1", resolve);
    });
  }

  crash(error, request, reply) {
    this.faults.push(`${request.method} ${request.url}: ${error.stack}`);
    console.error(error);
    if (!reply.headersSent) reply.writeHead(500);
    reply.end();
  }

  async handle(request, reply) {
    const body = await readBody(request);
    if (request.url.startsWith("/_control/")) {
      const { status, answer } = await this.control(request, request.url.slice("/_control".length), body);
      reply.writeHead(status, { "content-type": "application/json" });
      reply.end(JSON.stringify(answer ?? null));
      return;
    }
    const record = this.record(request, body);
    const failure = this.failures.take(request.method, request.url, record.actor);
    const url = new URL(request.url, this.url);
    const judged = this.judgeRequest(record, url, request.headers, body);
    const response = failure?.status || failure?.before ? undefined : await this.ask(url, request, body, judged);
    this.finish(record, reply, failure, response);
  }

  async control({ method, headers }, path, text) {
    for (const [expected, pattern, handler] of this.controls) {
      const match = method === expected && pattern.exec(path);
      if (!match) continue;
      try {
        const groups = match.slice(1).map((group) => group && decodeURIComponent(group));
        return {
          status: 200,
          answer: await handler(text.length > 0 ? JSON.parse(text) : {}, ...groups, { headers, text }),
        };
      } catch (error) {
        return { status: 500, answer: { message: error.stack } };
      }
    }
    return { status: 404, answer: { message: `${method} ${path} is no control` } };
  }

  record(request, body) {
    const record = {
      number: ++this.count,
      method: request.method,
      target: request.url,
      headers: request.headers,
      body: body.subarray(0, BODY_KEPT).toString(),
      actor: this.actorOf(request.headers),
      status: null,
    };
    this.requests.push(record);
    if (this.requests.length > REQUESTS_KEPT) this.requests.shift();
    return record;
  }

  judgeRequest(record, url, headers, body) {
    if (!this.judge || url.pathname.startsWith("/login/")) return undefined;
    const judged = this.judge.request(record.method, url, headers, body.toString());
    record.violations = judged.violations;
    this.judged.requests += 1;
    const counted = isJudged(headers) ? judged.violations : [];
    for (const violation of counted) {
      this.violations.push({ number: record.number, method: record.method, target: record.target, violation });
    }
    return judged;
  }

  /** The service's answer: `{status, headers, body}`. */
  async ask(url, request, body, judged) {
    const hasBody = !["GET", "HEAD"].includes(request.method);
    const response = await this.answer(
      new Request(url, { method: request.method, headers: request.headers, body: hasBody ? body : undefined }),
    );
    if (!(response instanceof Response)) return response;
    const answer = {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: Buffer.from(await response.arrayBuffer()),
    };
    if (response.headers.has("x-stand-in")) this.judgeAnswer(request, judged, answer);
    return answer;
  }

  /** The stand-in's own answers must be right, too. */
  judgeAnswer(request, judged, answer) {
    delete answer.headers["x-stand-in"];
    if (!judged?.operation) return;
    this.judged.answers += 1;
    const found = this.judge.answer(judged.operation, answer.status, answer.headers, answer.body.toString());
    this.faults.push(...found.map((violation) => `${request.method} ${request.url} ${answer.status}: ${violation}`));
  }

  judgeGiven({ method, path, status, body }) {
    const { operation } = this.judge.request(method, new URL(path, this.url), {}, "");
    return this.judge.answer(operation, status, { "content-type": "application/json" }, JSON.stringify(body));
  }

  finish(record, reply, failure, response) {
    if (failure?.drop) {
      reply.destroy();
      return;
    }
    if (failure?.hang) return;
    record.status = failure?.status ?? response.status;
    const headers = { ...response?.headers, ...failure?.headers };
    delete headers["transfer-encoding"];
    delete headers["content-length"];
    reply.writeHead(record.status, headers);
    reply.end(failure?.status ? bodyOf(failure.body) : response.body);
  }
}

function bodyOf(value) {
  return typeof value === "string" ? value : JSON.stringify(value ?? {});
}
