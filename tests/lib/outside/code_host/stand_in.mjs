/** What stands between a request and emulate: it refuses what the real code host refuses and emulate does not, answers
 * what emulate lacks, and passes the rest on. Each answer of its own has the field x-stand-in, so that it is judged by the
 * description, too. */
import { ACTIONS } from "./actions.mjs";
import { bearerOf, json, problem } from "./answers.mjs";
import { APP, appProblem } from "./app.mjs";
import { DELIVERIES } from "./deliveries.mjs";
import { MANIFEST } from "./manifest.mjs";
import { OAUTH } from "./oauth.mjs";
import { REPOSITORIES } from "./repositories.mjs";
import { SECRETS } from "./secrets.mjs";

const ROUTES = [...APP, ...DELIVERIES, ...MANIFEST, ...OAUTH, ...REPOSITORIES, ...SECRETS, ...ACTIONS];

/** Requests on a repository that a user without push access may not make. emulate lets everybody do them on a public one. */
const NEED_PUSH = [
  ["PUT", /^\/pulls\/\d+\/merge$/],
  ["POST", /^\/actions\/workflows\/[^/]+\/dispatches$/],
  ["POST", /^\/actions\/runs\/\d+\/cancel$/],
  ["POST", /^\/merge-upstream$/],
  ["GET", /^\/actions\/secrets/],
  ["PUT", /^\/actions\/secrets/],
];

const REPO_PATH = /^\/repos\/([^/]+)\/([^/]+)(\/.*)?$/;

/** One request on its way, for the handlers. */
class Call {
  constructor(world, request, inner) {
    Object.assign(this, { world, request, inner, method: request.method, url: new URL(request.url) });
    this.token = bearerOf(request.headers);
    this.isApp = this.token.startsWith("eyJ");
    this.owner = this.isApp ? undefined : world.ownerOf(this.token);
  }

  /** Read the body, once: JSON or a form. */
  async readBody() {
    this.text = ["GET", "HEAD"].includes(this.method) ? "" : await this.request.text();
    const isForm = (this.request.headers.get("content-type") ?? "").startsWith("application/x-www-form-urlencoded");
    try {
      this.body = isForm ? Object.fromEntries(new URLSearchParams(this.text)) : JSON.parse(this.text || "{}");
    } catch {
      this.body = {};
    }
  }

  /** emulate's answer to this request, with another path or body where given. */
  async pass({ pathname = this.url.pathname, text = this.text } = {}) {
    const url = new URL(this.url);
    url.pathname = pathname;
    const hasBody = !["GET", "HEAD"].includes(this.method);
    return this.inner(
      new Request(url, { method: this.method, headers: this.request.headers, body: hasBody ? text : undefined }),
    );
  }

  /** Find the repository of the path: a Response when it is not there for the caller, or has another name now. */
  findRepository() {
    const match = REPO_PATH.exec(this.url.pathname);
    if (!match) return undefined;
    const name = decodeURIComponent(`${match[1]}/${match[2]}`);
    const moved = this.world.renamed.get(name.toLowerCase());
    if (moved && !this.world.repository(name)) {
      const { full_name } = this.world.gh.repos.get(moved);
      const location = `${this.world.url}/repos/${full_name}${match[3] ?? ""}${this.url.search}`;
      return json(301, { message: "Moved Permanently", url: location, documentation_url: "" }, { location });
    }
    this.repo = this.world.repository(name);
    if (!this.repo) return problem(404, "Not Found");
    this.rest = match[3] ?? "";
    this.url.pathname = `/repos/${this.repo.full_name}${this.rest}`;
    if (!this.isApp && !this.world.permission(this.owner, this.repo)) return problem(404, "Not Found");
    return this.refuseWithoutPush();
  }

  refuseWithoutPush() {
    const isRestricted = NEED_PUSH.some(([method, path]) => method === this.method && path.test(this.rest));
    if (!isRestricted || this.owner?.installation) return undefined;
    const permission = this.world.permission(this.owner, this.repo);
    return ["push", "admin"].includes(permission) ? undefined : problem(403, "Must have admin rights to Repository.");
  }

  /** A Response when the caller's installation lacks a permission; `level` is read or write. */
  refuseWithout(name, level) {
    const installation = this.owner?.installation;
    if (!installation) return undefined;
    const given = installation.permissions[name];
    const isGiven = given === "write" || given === level;
    if (isGiven && this.world.covers(installation, this.repo)) return undefined;
    return problem(403, "Resource not accessible by integration");
  }
}

/** The function that answers a Request, around emulate's own (`inner`). */
export function standIn(world, inner) {
  return async (request) => {
    const call = new Call(world, request, inner);
    await call.readBody();
    const refused = authenticationProblem(call) ?? call.findRepository();
    if (refused) return refused;
    for (const [method, path, handler] of ROUTES) {
      const match = method === call.method && path.exec(call.repo ? call.rest : call.url.pathname);
      if (match && Boolean(call.repo) === Boolean(handler.isOfRepository)) {
        return handler(call, ...match.slice(1).map(decodeURIComponent));
      }
    }
    return call.pass();
  };
}

/** emulate takes any unknown token for its first user. */
function authenticationProblem(call) {
  if (call.isApp) {
    const reason = appProblem(call.world, call.token);
    return reason && problem(401, reason);
  }
  return call.token && !call.owner ? problem(401, "Bad credentials") : undefined;
}
