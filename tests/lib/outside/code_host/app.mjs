/** The app: its JWT, its installations, their tokens, and what it may do to the tokens of users. emulate verifies a JWT's
 * signature and its end; the real code host is stricter. */
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
  if (!Number.isInteger(claims.exp) || claims.exp <= now)
    return "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires";
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

/** Which repositories an installation covers, as emulate writes it for a token. */
function coverageOf(row) {
  return {
    accountId: row.account_id,
    accountType: row.account_type,
    repositorySelection: row.repository_selection,
    repositoryIds: row.repository_ids,
  };
}

/** All installations, as the API tells them. */
async function listInstallations(world, inner) {
  const headers = { authorization: `Bearer ${world.appToken()}` };
  return (await inner(new Request(`${world.url}/app/installations`, { headers }))).json();
}

/** The event of what happened to an installation, for Deliveries.send(): `created`, `deleted`, `suspend`, `unsuspend`,
 * `new_permissions_accepted`. */
export async function installationEvent(world, inner, id, action) {
  const installation = (await listInstallations(world, inner)).find((each) => each.id === Number(id));
  const covered = world.gh.repos.all().filter((repo) => world.covers(coverageOf(world.installation(id)), repo));
  const repositories = covered.map(({ id, node_id, name, full_name, private: isPrivate }) => ({
    id,
    node_id,
    name,
    full_name,
    private: isPrivate,
  }));
  const payload = { action, installation, repositories, requester: null, sender: installation.account };
  return { guid: randomUUID(), event: "installation", body: JSON.stringify(payload), payload };
}

/** The installations that a user may see: of the accounts whose repositories the user can push to. */
async function listUserInstallations(call) {
  const { world, owner } = call;
  if (!owner || owner.installation) return problem(401, "Requires authentication");
  const pushable = world.gh.repos.all().filter((repo) => ["push", "admin"].includes(world.permission(owner, repo)));
  const installations = (await listInstallations(world, call.inner)).filter(
    ({ id, account }) =>
      account.login === owner.login || pushable.some((repo) => world.covers(coverageOf(world.installation(id)), repo)),
  );
  return json(200, { total_count: installations.length, installations });
}

/** GET /user/installations/{id}/repositories: those of an installation that the user can see. */
async function listInstallationRepositories(call, id) {
  const { world, owner } = call;
  const row = world.installation(id);
  if (!owner || !row) return problem(404, "Not Found");
  const covered = world.gh.repos
    .all()
    .filter((repo) => world.covers(coverageOf(row), repo) && world.permission(owner, repo));
  const headers = { authorization: `Bearer ${call.token}` };
  const repositories = await Promise.all(
    covered.map(async ({ full_name }) =>
      (await call.inner(new Request(`${world.url}/repos/${full_name}`, { headers }))).json(),
    ),
  );
  return json(200, { total_count: repositories.length, repositories });
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

export const APP = [
  ["POST", /^\/app\/installations\/(\d+)\/access_tokens$/, createToken],
  ["DELETE", /^\/installation\/token$/, revokeToken],
  ["GET", /^\/installation$/, findInstallation],
  ["GET", /^\/user\/installations$/, listUserInstallations],
  ["GET", /^\/user\/installations\/(\d+)\/repositories$/, listInstallationRepositories],
  ["DELETE", /^\/applications\/([^/]+)\/grant$/, deleteGrant],
  ["DELETE", /^\/applications\/([^/]+)\/token$/, deleteToken],
];
