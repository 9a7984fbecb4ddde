/** How tests seed the code host and look at what is there: more rows for Front.addControls(). */
import { randomUUID } from "node:crypto";

import { changeRun } from "./actions.mjs";
import { installationEvent } from "./app.mjs";
import { removeBranch, setBranch } from "./repositories.mjs";
import { openSecret, removeSecret, storeSecret } from "./secrets.mjs";

const HEADS = "refs/heads/";

function repositoryOf(world, owner, name) {
  const repo = world.repository(`${owner}/${name}`);
  if (!repo) throw new Error(`no repository ${owner}/${name}`);
  return repo;
}

/** Change files of a branch, by default the default one, in one commit; a file whose text is null is removed. */
async function putFiles({ world, inner }, repo, files, branch = repo.default_branch) {
  if (Object.keys(files).length === 0) return;
  const headers = { authorization: `Bearer ${world.repositoryToken(repo)}`, "content-type": "application/json" };
  const ask = async (method, path, body) => {
    const url = `${world.url}/repos/${repo.full_name}/git/${path}`;
    const answer = await inner(new Request(url, { method, headers, body: JSON.stringify(body) }));
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()).sha;
  };
  const head = world.commit(repo, branch);
  const rows = Object.entries(files).map(([path, text]) => ({
    path,
    mode: "100644",
    type: "blob",
    ...(text === null ? { sha: null } : { content: text }),
  }));
  const tree = await ask("POST", "trees", { base_tree: head?.tree_sha, tree: rows });
  const sha = await ask("POST", "commits", { message: "Change files", tree, parents: head ? [head.sha] : [] });
  if (head) await ask("PATCH", `refs/heads/${encodeURI(branch)}`, { sha });
  else await ask("POST", "refs", { ref: `refs/heads/${branch}`, sha });
}

/** Make a branch have these files and no others. A new one starts from the default branch. */
async function putBranch(host, repo, { branch, files }) {
  const { world } = host;
  if (!world.commit(repo, branch)) setBranch(world, repo, branch, world.commit(repo, repo.default_branch).sha);
  const before = world.files(repo, branch);
  const changed = Object.entries(files).filter(([path, text]) => before[path] !== text);
  const removed = Object.keys(before).filter((path) => !(path in files));
  const changes = { ...Object.fromEntries(changed), ...Object.fromEntries(removed.map((path) => [path, null])) };
  await putFiles(host, repo, changes, branch);
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

/** Rename or transfer a repository, and send the event of it. */
async function renameRepository({ world, inner }, repo, changes) {
  const [owner, name] = repo.full_name.split("/");
  const renamed = world.rename(repo, changes);
  const headers = { authorization: `Bearer ${world.repositoryToken(renamed)}` };
  const answer = await inner(new Request(`${world.url}/repos/${renamed.full_name}`, { headers }));
  const repository = await answer.json();
  const payload = {
    action: changes.owner ? "transferred" : "renamed",
    changes: changes.owner
      ? { owner: { from: { [repo.owner_type === "User" ? "user" : "organization"]: { login: owner } } } }
      : { repository: { name: { from: name } } },
    repository,
    sender: repository.owner,
  };
  const body = JSON.stringify(payload);
  await world.deliveries.send({ guid: randomUUID(), event: "repository", body, payload });
  return renamed;
}

/** {branch: commit} */
function branchesOf(world, repo) {
  const heads = world.gh.refs.findBy("repo_id", repo.id).filter(({ ref }) => ref.startsWith(HEADS));
  return Object.fromEntries(heads.map(({ ref, sha }) => [ref.slice(HEADS.length), sha]));
}

/** Make a branch at the head of the default one and have it be the default; the former is removed unless it is to be kept. */
function moveDefaultBranch(world, repo, { branch, keeps_old: keepsOld }) {
  const former = repo.default_branch;
  setBranch(world, repo, branch, world.commit(repo, former).sha);
  world.change(repo, { default_branch: branch });
  if (!keepsOld) removeBranch(world, repo, former);
  return {};
}

function listRuns(world, repo) {
  return world.gh.workflowRuns.findBy("repo_id", repo.id).map((run) => ({
    ...run,
    inputs: world.inputs.get(run.id) ?? {},
    path: world.gh.workflows.get(run.workflow_id)?.path,
  }));
}

async function addInstallation({ world, inner }, body) {
  const row = world.addInstallation(body);
  await world.deliveries.send(await installationEvent(world, inner, row.installation_id, "created"));
  return row;
}

async function changeInstallation({ world, inner }, id, { suspended, permissions }) {
  const { id: key } = world.installation(id);
  if (permissions) world.gh.appInstallations.update(key, { permissions });
  if (suspended !== undefined) {
    world.gh.appInstallations.update(key, { suspended_at: suspended ? new Date().toISOString() : null });
  }
  const action = permissions ? "new_permissions_accepted" : suspended ? "suspend" : "unsuspend";
  await world.deliveries.send(await installationEvent(world, inner, id, action));
  return world.installation(id);
}

async function removeInstallation({ world, inner }, id) {
  const event = await installationEvent(world, inner, id, "deleted");
  world.removeInstallation(id);
  await world.deliveries.send(event);
}

/** The app's permissions and events, which its owner can change. */
function appOf(world) {
  const [{ permissions, events }] = world.gh.apps.all();
  return { permissions, events };
}

function changeApp(world, changes) {
  world.gh.apps.update(world.gh.apps.all()[0].id, changes);
}

/** Where events go, the secret that signs them, and whether they are held back (their deliveries fail). */
function changeWebhook(world, { held, ...changes }) {
  Object.assign(world.config.webhook, changes);
  if (held !== undefined) world.deliveries.isHeld = held;
}

/** The rows, for a host that is {world, inner, reset}. */
export function controlsOf(host) {
  const { world } = host;
  const repositoryRows = [
    ["POST", "/files", (repo, body) => putFiles(host, repo, body)],
    ["GET", "/files(?:/(.+))?", (repo, _, branch) => world.files(repo, branch)],
    ["GET", "/branches", (repo) => branchesOf(world, repo)],
    ["POST", "/branches", (repo, body) => putBranch(host, repo, body)],
    ["GET", "/default-branch", (repo) => repo.default_branch],
    ["POST", "/default-branch", (repo, body) => moveDefaultBranch(world, repo, body)],
    ["POST", "/tokens", (repo, { permissions }) => world.repositoryToken(repo, permissions)],
    ["PATCH", "", (repo, { archived, disabled }) => world.change(repo, { archived, disabled })],
    ["POST", "/rename", (repo, { name }) => renameRepository(host, repo, { name })],
    ["POST", "/transfer", (repo, { owner }) => renameRepository(host, repo, { owner })],
    ["GET", "/secrets/([^/]+)", (repo, _, secret) => ({ value: openSecret(world, repo, secret) })],
    ["PUT", "/secrets/([^/]+)", (repo, { value }, secret) => storeSecret(world, repo, secret, value)],
    ["DELETE", "/secrets/([^/]+)", (repo, _, secret) => removeSecret(world, repo, secret) ?? {}],
    ["GET", "/runs", (repo) => listRuns(world, repo)],
    ["POST", "/pulls/(\\d+)/merge", (repo, _, number) => mergePull(host, repo, number)],
  ];
  return [
    ["GET", /^\/app$/, () => appOf(host.world)],
    ["PATCH", /^\/app$/, (body) => changeApp(host.world, body)],
    ["POST", /^\/app\/expire$/, () => host.world.app.codes.forEach((code) => (code.until = 0))],
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
    ["POST", /^\/installations$/, (body) => addInstallation(host, body)],
    ["PATCH", /^\/installations\/(\d+)$/, (body, id) => changeInstallation(host, id, body)],
    ["DELETE", /^\/installations\/(\d+)$/, (_, id) => removeInstallation(host, id)],
    ["POST", /^\/runs\/(\d+)$/, (body, id) => changeRun(world, host.inner, id, body)],
    [
      "POST",
      /^\/tokens\/drop$/,
      ({ login, token }) => world.dropTokens((owner, text) => text === token || owner.login === login),
    ],
    ["GET", /^\/tokens$/, () => [...world.tokens.keys(), ...world.oauth.refreshTokens.keys()]],
    ["POST", /^\/oauth$/, ({ lifetime }) => (world.oauth.lifetime = lifetime)],
    ["POST", /^\/webhook$/, (body) => changeWebhook(world, body)],
    ["GET", /^\/deliveries$/, () => world.deliveries.list()],
    ["POST", /^\/hook$/, (_, { headers, text }) => world.deliveries.receive(headers, text).then(() => ({}))],
    ["POST", /^\/reset$/, () => host.reset()],
  ];
}
