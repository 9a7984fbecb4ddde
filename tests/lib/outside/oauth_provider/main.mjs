/** A strict OAuth provider: oidc-provider with PKCE (S256 required), one static client, and refresh tokens that work once;
 * one that is used again ends the whole grant; and an OpenID provider for the client `login`.
 *
 * usage: node main.mjs --config FILE
 *
 *     {"port": 20003, "client": {"client_id": "...", "client_secret": "...", "redirect_uris": ["..."]}, "login": {...}}
 *
 * A user logs in by the parameter `login_hint` of the authorization address, without a form, or else by a form with their
 * name, and consents to everything. It is the subject, and may tell the email address, and that nobody has verified it: `ada`,
 * `ada,a@example.org,unverified`.
 * Addresses: /auth, /token, /me, /token/revocation. Below /_control/: GET /health, POST /lifetime {"access": seconds},
 * POST and DELETE /failures and GET /requests as at the code host (front.mjs). Prints `ready` when it listens. */
import { readFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { parseArgs } from "node:util";

import Provider from "oidc-provider";

import { Front } from "../code_host/front.mjs";

const SCOPES = ["openid", "offline_access", "email", "profile", "read", "write"];

const lifetime = { access: 3600 };

function claimsOf(id) {
  const [name, email, proof] = id.split(",");
  return {
    sub: id,
    email: email ?? `${name}@example.org`,
    email_verified: proof !== "unverified",
    preferred_username: name,
    name,
  };
}

function configurationOf(client, login) {
  return {
    clients: [
      {
        ...client,
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "client_secret_post",
      },
      { ...login, grant_types: ["authorization_code"], response_types: ["code"] },
    ],
    scopes: SCOPES,
    claims: {
      openid: ["sub", "email", "preferred_username"],
      email: ["email", "email_verified"],
      profile: ["name"],
    },
    conformIdTokenClaims: false,
    cookies: { keys: ["for tests"] },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: async (_, made) => made.clientId === client.client_id,
    features: { devInteractions: { enabled: false }, revocation: { enabled: true } },
    ttl: {
      AccessToken: () => lifetime.access,
      Grant: 86400,
      Interaction: 600,
      RefreshToken: 86400,
      Session: 600,
      IdToken: 600,
    },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_, id) => ({ accountId: id, claims: () => claimsOf(id) }),
  };
}

const FORM = `<!doctype html><html lang="en"><title>Provider</title><link rel="icon" href="data:,">
  <form><label>User <input name="user"></label> <button>Continue</button></form></html>`;

/** Log in the user of `login_hint` or of the form, and consent to what is asked for. */
async function interact(provider, ctx) {
  const { params } = await provider.interactionDetails(ctx.req, ctx.res);
  const user = params.login_hint ?? ctx.query.user;
  if (!user) {
    ctx.type = "html";
    ctx.body = FORM;
    return;
  }
  const grant = new provider.Grant({ accountId: user, clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  const result = { login: { accountId: user }, consent: { grantId: await grant.save() } };
  await provider.interactionFinished(ctx.req, ctx.res, result, { mergeWithLastSubmission: false });
  ctx.respond = false;
}

function startProvider(url, client, login) {
  const provider = new Provider(url, configurationOf(client, login));
  provider.use(async (ctx, next) => (ctx.path.startsWith("/interaction/") ? interact(provider, ctx) : next()));
  for (const event of ["server_error", "grant.error", "authorization.error"]) {
    provider.on(event, (_, error) => console.error(event, error.error_detail ?? error));
  }
  return new Promise((resolve) => {
    const server = provider.listen(0, "127.0.0.1", () => resolve(server.address().port));
  });
}

/** Pass a request on to the provider behind the front. The Host field stays, of which it makes its addresses. */
function forwardTo(port) {
  return async (request) => {
    const { pathname, search } = new URL(request.url);
    const body = Buffer.from(await request.arrayBuffer());
    return new Promise((resolve, reject) => {
      const options = {
        port,
        host: "127.0.0.1",
        path: pathname + search,
        method: request.method,
        headers: Object.fromEntries(request.headers),
      };
      const sent = httpRequest(options, (reply) => {
        const parts = [];
        reply.on("data", (part) => parts.push(part));
        reply.on("end", () =>
          resolve({ status: reply.statusCode, headers: reply.headers, body: Buffer.concat(parts) }),
        );
      });
      sent.on("error", reject);
      sent.end(body);
    });
  };
}

async function main({ port, client, login }) {
  const url = `http://127.0.0.1:${port}`;
  const front = new Front({ url, answer: forwardTo(await startProvider(url, client, login)) });
  front.addControls([["POST", /^\/lifetime$/, ({ access }) => Object.assign(lifetime, { access })]]);
  await front.listen(port);
  console.log("ready");
}

const { values } = parseArgs({ options: { config: { type: "string" } } });
if (!values.config) {
  console.error("usage: node main.mjs --config FILE");
  process.exit(2);
}
await main(JSON.parse(readFileSync(values.config, "utf8")));
