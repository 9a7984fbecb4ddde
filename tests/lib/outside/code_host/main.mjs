/** The code host and the tracker that the tests and the demo use in place of the public ones.
 *
 * usage: node main.mjs --config FILE
 *
 *     {"port": 20001, "tracker_port": 20002,
 *      "app": {"id": 4711, "slug": "expops", "key": "-----BEGIN RSA PRIVATE KEY-----..."},
 *      "oauth": {"client_id": "...", "client_secret": "...", "redirect_uris": ["..."]},
 *      "webhook": {"url": "http://127.0.0.1:8080/api/v1.0/github/webhooks", "secret": "..."},
 *      "tracker": {"client_id": "...", "client_secret": "...", "redirect_uris": ["..."]}}
 *
 * Both listen on the loopback address. emulate holds their state; stand_in.mjs and linear.mjs add what it lacks; judge.mjs
 * judges each request by the code host's own description; control.mjs is how tests seed and look. Prints `ready` when both
 * listen. */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { bearerOf } from "./answers.mjs";
import { controlsOf } from "./control.mjs";
import { Deliveries } from "./deliveries.mjs";
import { startEmulator } from "./emulator.mjs";
import { Front } from "./front.mjs";
import { Judge } from "./judge.mjs";
import { asLinear } from "./linear.mjs";
import { standIn } from "./stand_in.mjs";
import { World } from "./world.mjs";

/** What the app may do, of which an installation has all unless a test says otherwise. */
const PERMISSIONS = {
  actions: "write",
  administration: "write",
  contents: "write",
  issues: "write",
  metadata: "read",
  pull_requests: "write",
  secrets: "write",
  workflows: "write",
};

const EVENTS = ["installation", "installation_repositories", "issues", "pull_request", "push", "workflow_run"];

/** The first user is the one whom emulate takes every unknown token for; the stand-in refuses those. */
function seedOf({ app, oauth }, url) {
  return {
    users: [{ login: "nobody" }],
    oauth_apps: [{ ...oauth, name: app.slug }],
    apps: [
      {
        app_id: app.id,
        slug: app.slug,
        name: app.slug,
        private_key: app.key,
        permissions: PERMISSIONS,
        events: EVENTS,
        webhook_url: `${url}/_control/hook`,
      },
    ],
  };
}

/** emulate leaves the action out of some events. */
function addActions(webhooks) {
  const dispatch = webhooks.dispatch;
  webhooks.dispatch = (event, action, payload, owner, repo) =>
    dispatch(event, action, action && !payload.action ? { action, ...payload } : payload, owner, repo);
}

/** Who asks: `app`, `user LOGIN`, `installation ID`, `unknown`, or null for nobody. */
function actorOf(world, headers) {
  const token = bearerOf(new Headers({ authorization: headers.authorization ?? "" }));
  if (!token) return null;
  if (token.startsWith("eyJ")) return "app";
  const owner = world.ownerOf(token);
  if (!owner) return "unknown";
  return owner.installation ? `installation ${owner.installation.installationId}` : `user ${owner.login}`;
}

async function startCodeHost(config) {
  const url = `http://127.0.0.1:${config.port}`;
  const host = {};
  const emulator = await startEmulator({
    service: "github",
    port: 0,
    url,
    seed: seedOf(config, url),
    wrap: (inside, inner) => {
      addActions(inside.webhooks);
      host.inner = inner;
      host.world = new World(inside, config);
      host.world.deliveries = new Deliveries(host.world);
      return standIn(host.world, inner);
    },
  });
  host.front = new Front({
    url,
    judge: await Judge.create(),
    answer: (request) => emulator.app.fetch(request),
    actorOf: (headers) => actorOf(host.world, headers),
  });
  host.reset = () => {
    emulator.reset();
    host.world.clear();
    host.world.deliveries.clear();
    host.front.clear();
  };
  host.front.addControls(controlsOf(host));
  await host.front.listen(config.port);
}

async function startTracker({ tracker_port: port, tracker }) {
  const seed = { oauth_apps: [{ ...tracker, name: "expops", scopes: ["read", "write"], actor: "user" }] };
  const url = `http://127.0.0.1:${port}`;
  const emulator = await startEmulator({ service: "linear", port: 0, url, seed });
  const front = new Front({ url, answer: asLinear((request) => emulator.app.fetch(request)) });
  const addUser = (body) => emulator.module.seedFromConfig(emulator.store, url, { users: [body] });
  front.addControls([["POST", /^\/users$/, addUser]]);
  await front.listen(port);
}

const { values } = parseArgs({ options: { config: { type: "string" } } });
if (!values.config) {
  console.error("usage: node main.mjs --config FILE");
  process.exit(2);
}
const config = JSON.parse(readFileSync(values.config, "utf8"));
await Promise.all([startCodeHost(config), startTracker(config)]);
console.log("ready");
