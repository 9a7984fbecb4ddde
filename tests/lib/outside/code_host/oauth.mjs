/** The code host's OAuth, where emulate is too kind: PKCE and the redirect address are checked when a code is exchanged, and
 * tokens can end and be refreshed, as those of an app do. */
import { createHash, randomBytes } from "node:crypto";

import { json } from "./answers.mjs";

/** OAuth errors come with status 200. */
function refuse(error, description) {
  return json(200, { error, error_description: description });
}

/** GET /login/oauth/authorize: remember the challenge of the state. */
async function authorize(call) {
  const query = Object.fromEntries(call.url.searchParams);
  if (query.code_challenge && query.code_challenge_method !== "S256") {
    return refuse("invalid_request", "Only S256 is supported.");
  }
  if (query.state) call.world.oauth.attempts.set(query.state, query);
  return call.pass();
}

/** POST /login/oauth/callback: the user consents; bind the code to the attempt. */
async function consent(call) {
  const answer = await call.pass();
  const location = answer.headers.get("location");
  const attempt = call.world.oauth.attempts.get(call.body.state);
  if (location && attempt) call.world.oauth.codes.set(new URL(location).searchParams.get("code"), attempt);
  return answer;
}

function challengeOf(verifier) {
  return createHash("sha256")
    .update(verifier ?? "")
    .digest("base64url");
}

async function exchange(call) {
  const { oauth } = call.world;
  if (call.body.grant_type === "refresh_token") return refresh(call);
  const attempt = oauth.codes.get(call.body.code);
  if (attempt?.code_challenge && challengeOf(call.body.code_verifier) !== attempt.code_challenge) {
    return refuse("bad_verification_code", "The code_verifier does not match the code_challenge.");
  }
  if (attempt && call.body.redirect_uri !== undefined && call.body.redirect_uri !== attempt.redirect_uri) {
    return refuse(
      "redirect_uri_mismatch",
      "The redirect_uri MUST match the registered callback URL for this application.",
    );
  }
  const answer = await call.pass();
  if (!oauth.lifetime || answer.status !== 200) return answer;
  const body = await answer.json();
  return body.error ? json(200, body) : json(200, withEnd(call.world, body.access_token, body.scope));
}

/** A token that ends, and the refresh token for the next one. */
function withEnd(world, token, scope) {
  const { oauth } = world;
  const owner = world.tokens.get(token);
  const refreshToken = `ghr_${randomBytes(38).toString("base64url")}`;
  world.expiry.set(token, Date.now() + oauth.lifetime * 1000);
  oauth.refreshTokens.set(refreshToken, { login: owner.login, scope, token });
  return {
    access_token: token,
    expires_in: oauth.lifetime,
    refresh_token: refreshToken,
    refresh_token_expires_in: 15897600,
    scope,
    token_type: "bearer",
  };
}

/** A refresh token works once; the access token before it ends, too. */
function refresh(call) {
  const { world, body } = call;
  const { client_id, client_secret } = world.config.oauth;
  if (body.client_id !== client_id || body.client_secret !== client_secret) {
    return refuse("incorrect_client_credentials", "The client_id and/or client_secret passed are incorrect.");
  }
  const known = world.oauth.refreshTokens.get(body.refresh_token);
  if (!known) return refuse("bad_refresh_token", "The refresh token passed is incorrect or expired.");
  world.oauth.refreshTokens.delete(body.refresh_token);
  world.tokens.delete(known.token);
  return json(200, withEnd(world, world.addToken(known.login), known.scope));
}

/** What OAuth remembers. `lifetime`: seconds that tokens live; null: they do not end, and there is nothing to refresh. */
export function newOAuthState() {
  return { attempts: new Map(), codes: new Map(), refreshTokens: new Map(), lifetime: null };
}

export const OAUTH = [
  ["GET", /^\/login\/oauth\/authorize$/, authorize],
  ["POST", /^\/login\/oauth\/callback$/, consent],
  ["POST", /^\/login\/oauth\/access_token$/, exchange],
];
