/** How tests seed the code host and look at what is there: more rows for Front.addControls(). */
import { changeRun } from "./actions.mjs";
import { openSecret } from "./secrets.mjs";

function repositoryOf(world, owner, name) {
  const repo = world.repository(`${owner}/${name}`);
  if (!repo) throw new Error(`no repository ${owner}/${name}`);
  return repo;
}

/** Put files on the default branch, through emulate's own API. */
async function putFiles({ world, inner }, repo, files) {
  for (const [path, text] of Object.entries(files)) {
    const url = `${world.url}/repos/${repo.full_name}/contents/${path}`;
    const headers = { authorization: `Bearer ${world.repositoryToken(repo)}`, "content-type": "application/json" };
    const known = await inner(new Request(url, { headers }));
    const sha = known.status === 200 ? (await known.json()).sha : undefined;
    const content = Buffer.from(text).toString("base64");
    const body = JSON.stringify({ message: `Change ${path}`, content, sha });
    const answer = await inner(new Request(url, { method: "PUT", headers, body }));
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  }
}

async function addRepository(host, { files, ...row }) {
  const repo = host.world.addRepository(row);
  await putFiles(host, repo, files ?? {});
  return repo;
}

/** Merge a pull request as somebody at the code host does, without a request of ours. */
async function mergePull({ world, inner }, repo, number) {
  const headers = { authorization: `Bearer ${world.repositoryToken(repo)}`, "content-type": "application/json" };
  const url = `${world.url}/repos/${repo.full_name}/pulls/${number}/merge`;
  const answer = await inner(new Request(url, { method: "PUT", headers, body: "{}" }));
  return { status: answer.status, ...(await answer.json()) };
}

function listRuns(world, repo) {
  return world.gh.workflowRuns
    .findBy("repo_id", repo.id)
    .map((run) => ({ ...run, inputs: world.inputs.get(run.id) ?? {}, path: world.gh.workflows.get(run.workflow_id)?.path }));
}

function changeInstallation(world, id, body) {
  const row = world.installation(id);
  if (!row) throw new Error(`no installation ${id}`);
  const changes = {};
  if ("suspended" in body) changes.suspended_at = body.suspended ? new Date().toISOString() : null;
  if (body.permissions) changes.permissions = body.permissions;
  return world.gh.appInstallations.update(row.id, changes);
}

/** Where events go, the secret that signs them, and whether they are held back (their deliveries fail). */
function changeWebhook(world, { url, secret, held }) {
  if (url) world.config.webhook.url = url;
  if (held !== undefined) world.deliveries.isHeld = held;
  if (secret) world.gh.apps.update(world.gh.apps.all()[0].id, { webhook_secret: secret });
  return {};
}

/** The rows, for a host that is {world, inner, reset}. */
export function controlsOf(host) {
  const { world } = host;
  const repositoryRows = [
    ["POST", "/files", (repo, body) => putFiles(host, repo, body)],
    ["GET", "/files(?:/(.+))?", (repo, _, branch) => world.files(repo, branch)],
    ["POST", "/rename", (repo, { name }) => world.rename(repo.full_name, name)],
    ["GET", "/secrets/([^/]+)", (repo, _, secret) => ({ value: openSecret(world, repo, secret) })],
    ["GET", "/runs", (repo) => listRuns(world, repo)],
    ["POST", "/pulls/(\\d+)/merge", (repo, _, number) => mergePull(host, repo, number)],
  ];
  return [
    ["POST", /^\/users$/, (body) => ({ ...world.addUser(body), token: world.addToken(body.login) })],
    ["POST", /^\/orgs$/, (body) => world.addOrganisation(body)],
    ["POST", /^\/repos$/, (body) => addRepository(host, body)],
    ...repositoryRows.map(([method, path, handler]) => [
      method,
      new RegExp(`^/repos/([^/]+)/([^/]+)${path}$`),
      (body, owner, name, ...rest) => handler(repositoryOf(world, owner, name), body, ...rest),
    ]),
    ["POST", /^\/collaborators$/, (body) => world.addCollaborator(body)],
    ["DELETE", /^\/collaborators\/(\d+)$/, (_, id) => world.gh.collaborators.delete(Number(id))],
    ["POST", /^\/installations$/, (body) => world.addInstallation(body)],
    ["PATCH", /^\/installations\/(\d+)$/, (body, id) => changeInstallation(world, id, body)],
    ["DELETE", /^\/installations\/(\d+)$/, (_, id) => world.removeInstallation(id)],
    ["POST", /^\/runs\/(\d+)$/, (body, id) => changeRun(world, host.inner, id, body)],
    ["POST", /^\/tokens\/drop$/, ({ login, token }) => world.dropTokens((owner, text) => text === token || owner.login === login)],
    ["POST", /^\/oauth$/, ({ lifetime }) => (world.oauth.lifetime = lifetime)],
    ["POST", /^\/webhook$/, (body) => changeWebhook(world, body)],
    ["GET", /^\/deliveries$/, () => world.deliveries.rows],
    ["POST", /^\/hook$/, (_, { headers, text }) => world.deliveries.receive(headers, text).then(() => ({}))],
    ["POST", /^\/reset$/, () => host.reset()],
  ];
}
