/** The pages on which a person makes the app from a manifest, and installs it, and the exchange of the code for the app. emulate
 * has none of them, and one app, which gets what the manifest asks for. */
import { randomBytes } from "node:crypto";

import { json, problem } from "./answers.mjs";
import { installationEvent } from "./app.mjs";

const CODE_LIFETIME_MS = 3600 * 1000;

const isText = (value) => typeof value === "string";
const isFlag = (value) => typeof value === "boolean";
const isLink = (value) => isText(value) && URL.canParse(value);
const isLevels = (value) => Object.values(value).every((level) => ["read", "write"].includes(level));

/** "Registering a GitHub App from a manifest": each member, and what it must be. */
const MEMBERS = {
  name: (value) => isText(value) && value.length > 0 && value.length <= 34,
  url: isLink,
  hook_attributes: ({ url, active = true }) => isLink(url) && isFlag(active),
  redirect_url: isLink,
  callback_urls: (value) => Array.isArray(value) && value.length <= 10 && value.every(isLink),
  setup_url: isLink,
  setup_on_update: isFlag,
  description: isText,
  public: isFlag,
  default_events: (value) => Array.isArray(value) && value.every(isText),
  default_permissions: isLevels,
  request_oauth_on_install: isFlag,
};

/** What is wrong with a manifest: names of members. */
function faultsOf(manifest) {
  const wrong = Object.entries(manifest).filter(([name, value]) => !MEMBERS[name]?.(value));
  return [...wrong.map(([name]) => name), ...["url"].filter((name) => !(name in manifest))];
}

function escape(text) {
  return text.replace(/[&<"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", '"': "&quot;" })[sign]);
}

function page(status, title, forms) {
  const text = `<!doctype html><html lang="en"><title>${escape(title)}</title><h1>${escape(title)}</h1>${forms}</html>`;
  return new Response(text, { status, headers: { "content-type": "text/html; charset=utf-8" } });
}

function form(action, fields, button) {
  const hidden = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${escape(value)}">`,
  );
  return `<form method="post" action="${escape(action)}">${hidden.join("")}<button>${escape(button)}</button></form>`;
}

function redirect(address, query) {
  const location = new URL(address);
  for (const [name, value] of Object.entries(query)) if (value) location.searchParams.set(name, value);
  return new Response(null, { status: 302, headers: { location: location.href } });
}

/** POST {web}/settings/apps/new: what the person is asked to confirm. */
function confirm(call, organization) {
  const faults = faultsOf(JSON.parse(call.body.manifest));
  if (faults.length > 0) return page(422, `Wrong in the manifest: ${faults.join(", ")}`, "");
  const fields = { manifest: call.body.manifest, state: call.url.searchParams.get("state") ?? "", owner: organization ?? "" };
  return page(200, "Create GitHub App", form("/settings/apps/create", fields, "Create GitHub App"));
}

/** The person has confirmed. */
function create(call) {
  const { world } = call;
  const manifest = JSON.parse(call.body.manifest);
  const code = randomBytes(20).toString("hex");
  world.app.codes.set(code, { until: Date.now() + CODE_LIFETIME_MS });
  Object.assign(world.app, { manifest, owner: call.body.owner || "nobody" });
  const [app] = world.gh.apps.all();
  world.gh.apps.update(app.id, { permissions: manifest.default_permissions, events: manifest.default_events });
  for (const row of world.gh.oauthApps.all()) {
    const uris = new Set([...row.redirect_uris, ...(manifest.callback_urls ?? [])]);
    world.gh.oauthApps.update(row.id, { redirect_uris: [...uris] });
  }
  return redirect(manifest.redirect_url, { code, state: call.body.state });
}

async function ask(call, path, headers = {}) {
  return (await call.inner(new Request(`${call.world.url}${path}`, { headers }))).json();
}

/** The app as the API tells it: emulate's answer, with its owner. */
async function withOwner(call, app) {
  return { ...app, owner: await ask(call, `/users/${call.world.app.owner}`) };
}

/** emulate verifies the token. */
async function getApp(call) {
  const answer = await call.pass();
  return call.isApp && answer.ok ? json(200, await withOwner(call, await answer.json())) : answer;
}

/** POST /app-manifests/{code}/conversions: the secrets are told once. */
async function convert(call, code) {
  const { world } = call;
  const known = world.app.codes.get(code);
  world.app.codes.delete(code);
  if (!known || known.until < Date.now()) return problem(404, "Not Found");
  const { app, oauth, webhook } = world.config;
  return json(201, {
    ...(await withOwner(call, await ask(call, "/app", { authorization: `Bearer ${world.appToken()}` }))),
    client_id: oauth.client_id,
    client_secret: oauth.client_secret,
    webhook_secret: webhook.secret,
    pem: app.key,
  });
}

/** GET {web}/apps/{slug}/installations/new: the accounts on which it can be installed. */
function choose(call) {
  const { gh } = call.world;
  const logins = [...gh.users.all(), ...gh.orgs.all()].map(({ login }) => login);
  const state = call.url.searchParams.get("state") ?? "";
  const forms = logins.map((account) => form(`${call.url.pathname}`, { account, state }, `Install on ${account}`));
  return page(200, "Install the app", forms.join(""));
}

async function install(call) {
  const { world, body } = call;
  const repositories = body.repositories ? body.repositories.split(",") : undefined;
  const row = world.addInstallation({ account: body.account, repositories });
  await world.deliveries.send(await installationEvent(world, call.inner, row.installation_id, "created"));
  const { setup_url: setup } = world.app.manifest ?? {};
  const query = { installation_id: String(row.installation_id), setup_action: "install", state: body.state };
  return setup ? redirect(setup, query) : page(200, "Installed", "");
}

/** What is remembered of making the app. */
export function newAppState() {
  return { codes: new Map(), manifest: null, owner: "nobody" };
}

export const MANIFEST = [
  ["GET", /^\/favicon\.ico$/, () => new Response(null, { status: 204 })], // browsers log that a page has none
  ["POST", /^\/settings\/apps\/new$/, (call) => confirm(call)],
  ["POST", /^\/organizations\/([^/]+)\/settings\/apps\/new$/, confirm],
  ["POST", /^\/settings\/apps\/create$/, create],
  ["GET", /^\/app$/, getApp],
  ["POST", /^\/app-manifests\/([^/]+)\/conversions$/, convert],
  ["GET", /^\/apps\/[^/]+\/installations\/new$/, choose],
  ["POST", /^\/apps\/[^/]+\/installations\/new$/, install],
];
