/** The app: its JWT, its installations, their tokens, and its webhook deliveries. emulate verifies a JWT's signature and
 * its end; the real code host is stricter. */
import { randomUUID } from "node:crypto";

import { json, problem } from "./answers.mjs";

const JWT_LIFETIME_MAX_S = 600;
const CLOCK_SKEW_S = 5;

/** What the code host dislikes in a JWT; undefined if nothing. The signature is emulate's business. */
export function appProblem(world, token) {
  let claims;
  try {
    claims = JSON.parse(Buffer.from(token.split(".")[1], "base64url").toString());
  } catch {
    return "A JSON web token could not be decoded";
  }
  const now = Date.now() / 1000;
  if (!Number.isInteger(claims.iat) || claims.iat > now + CLOCK_SKEW_S) {
    return "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued";
  }
  if (!Number.isInteger(claims.exp) || claims.exp <= now) return "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires";
  if (claims.exp > now + JWT_LIFETIME_MAX_S) return "'Expiration time' claim ('exp') is too far in the future";
  return undefined;
}

async function createToken(call, id) {
  const installation = call.world.installation(id);
  if (installation?.suspended_at) return problem(403, "This installation has been suspended");
  const answer = await call.pass();
  if (answer.status !== 201) return answer;
  const body = await answer.json();
  call.world.expiry.set(body.token, Date.parse(body.expires_at));
  return new Response(JSON.stringify(body), { status: 201, headers: answer.headers });
}

async function revokeToken(call) {
  if (!call.owner?.installation) return problem(401, "Bad credentials");
  call.world.tokens.delete(call.token);
  return json(204, null);
}

/** GET /repos/{owner}/{repo}/installation: as emulate's, but for the app alone, and for repositories in any case. */
async function findInstallation(call) {
  return call.isApp ? call.pass() : problem(401, "A JSON web token could not be decoded");
}
findInstallation.isOfRepository = true;

/** The installations that a user may see: of the accounts whose repositories the user can push to. */
async function listUserInstallations(call) {
  const { world, owner } = call;
  if (!owner || owner.installation) return problem(401, "Requires authentication");
  const user = world.user(owner.login);
  const isVisible = (row) =>
    (row.account_type === "User" && row.account_id === user.id) ||
    world.gh.repos.all().some((repo) => {
      const covering = { accountId: row.account_id, accountType: row.account_type, repositorySelection: row.repository_selection, repositoryIds: row.repository_ids };
      return world.covers(covering, repo) && ["push", "admin"].includes(world.permission(owner, repo));
    });
  const ids = new Set(world.gh.appInstallations.all().filter(isVisible).map((row) => row.installation_id));
  const headers = { authorization: `Bearer ${world.appToken()}` };
  const all = await (await call.inner(new Request(`${world.url}/app/installations`, { headers }))).json();
  const installations = all.filter(({ id }) => ids.has(id));
  return json(200, { total_count: installations.length, installations });
}

/** Basic authentication as the OAuth client; a Response when it is wrong. */
function refuseClient(call, clientId) {
  const { client_id, client_secret } = call.world.config.oauth;
  const expected = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString("base64")}`;
  const isRight = clientId === client_id && call.request.headers.get("authorization") === expected;
  return isRight ? undefined : problem(401, "Bad credentials");
}

/** DELETE /applications/{client_id}/grant: all tokens of the user whose token this is. */
async function deleteGrant(call, clientId) {
  const refused = refuseClient(call, clientId);
  if (refused) return refused;
  const owner = call.world.ownerOf(call.body.access_token);
  if (!owner || owner.installation) return problem(422, "Validation Failed");
  call.world.dropTokens(({ login, installation }) => login === owner.login && !installation);
  return json(204, null);
}

async function deleteToken(call, clientId) {
  const refused = refuseClient(call, clientId);
  if (refused) return refused;
  if (!call.world.ownerOf(call.body.access_token)) return problem(422, "Validation Failed");
  call.world.tokens.delete(call.body.access_token);
  return json(204, null);
}

/** The deliveries of the app's hook. emulate calls the stand-in, signed; the stand-in calls the product with a delivery id
 * like the code host's, remembers what came of it, and can do so again. */
export class Deliveries {
  constructor(world) {
    this.world = world;
    this.clear();
  }

  clear() {
    this.rows = [];
    this.isHeld = false;
    this.pending = new Set();
  }

  /** Take a signed event from emulate. */
  receive(headers, body) {
    const payload = JSON.parse(body);
    return this.send({
      guid: randomUUID(),
      event: headers["x-github-event"],
      signature: headers["x-hub-signature-256"],
      body: body.toString(),
      payload,
      redelivery: false,
    });
  }

  /** Deliver an event. While deliveries are held, it fails without being sent. */
  send(delivery) {
    const done = this.deliver(delivery).finally(() => this.pending.delete(done));
    this.pending.add(done);
    return done;
  }

  async deliver(delivery) {
    const start = Date.now();
    let status = 0;
    try {
      if (!this.isHeld) status = (await this.post(delivery)).status;
    } catch {
      status = 0;
    }
    const isDone = status >= 200 && status < 300;
    const row = {
      ...delivery,
      id: 9_000_000_000 + this.rows.length + 1,
      status_code: status,
      status: isDone ? "OK" : status === 0 ? "failed to connect to host" : "Invalid HTTP Response",
      delivered_at: new Date(start).toISOString(),
      duration: (Date.now() - start) / 1000,
    };
    this.rows.push(row);
    return row;
  }

  post({ guid, event, signature, body }) {
    const headers = {
      "content-type": "application/json",
      "user-agent": "GitHub-Hookshot/1",
      "x-github-event": event,
      "x-github-delivery": guid,
      ...(signature ? { "x-hub-signature-256": signature } : {}),
    };
    return fetch(this.world.config.webhook.url, { method: "POST", headers, body, signal: AbortSignal.timeout(10000) });
  }
}

function formatDelivery({ payload, ...row }) {
  return {
    id: row.id,
    guid: row.guid,
    delivered_at: row.delivered_at,
    redelivery: row.redelivery,
    duration: row.duration,
    status: row.status,
    status_code: row.status_code,
    event: row.event,
    action: payload.action ?? null,
    installation_id: payload.installation?.id ?? null,
    repository_id: payload.repository?.id ?? null,
    throttled_at: null,
  };
}

/** Newest first, with a cursor. */
async function listDeliveries(call) {
  if (!call.isApp) return problem(401, "A JSON web token could not be decoded");
  const { searchParams } = call.url;
  const size = Math.min(Number(searchParams.get("per_page") ?? 30), 100);
  const before = Number(searchParams.get("cursor")?.replace(/^v1_/, "") ?? Infinity);
  const matching = call.world.deliveries.rows.filter(
    ({ id, status_code }) =>
      id < before && (searchParams.get("status") !== "failure" || status_code < 200 || status_code >= 400),
  );
  const page = matching.reverse().slice(0, size);
  const next = `${call.world.url}/app/hook/deliveries?per_page=${size}&cursor=v1_${page.at(-1)?.id}`;
  const headers = matching.length > size ? { link: `<${next}>; rel="next"` } : {};
  return json(200, page.map(formatDelivery), headers);
}

async function findDelivery(call, id) {
  if (!call.isApp) return problem(401, "A JSON web token could not be decoded");
  const row = call.world.deliveries.rows.find((delivery) => delivery.id === Number(id));
  if (!row) return problem(404, "Not Found");
  const request = { headers: { "X-GitHub-Delivery": row.guid, "X-GitHub-Event": row.event }, payload: row.payload };
  return json(200, { ...formatDelivery(row), url: call.world.config.webhook.url, request, response: { headers: {}, payload: "" } });
}

async function redeliver(call, id) {
  if (!call.isApp) return problem(401, "A JSON web token could not be decoded");
  const row = call.world.deliveries.rows.find((delivery) => delivery.id === Number(id));
  if (!row) return problem(404, "Not Found");
  call.world.deliveries.send({ ...row, redelivery: true });
  return json(202, {});
}

export const APP = [
  ["POST", /^\/app\/installations\/(\d+)\/access_tokens$/, createToken],
  ["DELETE", /^\/installation\/token$/, revokeToken],
  ["GET", /^\/installation$/, findInstallation],
  ["GET", /^\/user\/installations$/, listUserInstallations],
  ["DELETE", /^\/applications\/([^/]+)\/grant$/, deleteGrant],
  ["DELETE", /^\/applications\/([^/]+)\/token$/, deleteToken],
  ["GET", /^\/app\/hook\/deliveries$/, listDeliveries],
  ["GET", /^\/app\/hook\/deliveries\/(\d+)$/, findDelivery],
  ["POST", /^\/app\/hook\/deliveries\/(\d+)\/attempts$/, redeliver],
];
