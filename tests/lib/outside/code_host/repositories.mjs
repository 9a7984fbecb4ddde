/** Repositories: what emulate says to everybody (that they can push), forks without content, and merge-upstream. */
import { json, ofRepository, problem } from "./answers.mjs";

const PERMISSIONS = {
  admin: { admin: true, maintain: true, push: true, triage: true, pull: true },
  push: { admin: false, maintain: false, push: true, triage: true, pull: true },
  pull: { admin: false, maintain: false, push: false, triage: false, pull: true },
};

/** emulate's repository, with the caller's permissions and the repository that it is a fork of. */
async function complete(call, repo, formatted) {
  const permission = call.world.permission(call.owner, repo);
  const body = { ...formatted };
  if (call.owner) body.permissions = PERMISSIONS[permission];
  else delete body.permissions;
  const parent = repo.forked_from_id && call.world.gh.repos.get(repo.forked_from_id);
  if (parent) {
    const answer = await call.inner(
      new Request(`${call.world.url}/repositories/${parent.id}`, {
        headers: { authorization: `Bearer ${call.world.repositoryToken(parent)}` },
      }),
    );
    body.parent = body.source = await answer.json();
  }
  return body;
}

async function getRepository(call) {
  const answer = await call.pass();
  if (answer.status !== 200) return answer;
  const body = await complete(call, call.repo, await answer.json());
  return new Response(JSON.stringify(body), { status: 200, headers: answer.headers });
}

/** Give `to` the Git objects of `from`: forks share them at the code host. */
function copyObjects({ gh }, from, to) {
  for (const rows of [gh.blobs, gh.trees, gh.commits]) {
    const known = new Set(rows.findBy("repo_id", to.id).map(({ sha }) => sha));
    for (const { id, ...row } of rows.findBy("repo_id", from.id)) {
      if (!known.has(row.sha)) rows.insert({ ...row, repo_id: to.id });
    }
  }
}

/** emulate's rows of a branch: [table, column, its value, the row], the row undefined if there is none. */
function rowsOfBranch({ gh }, repo, name) {
  const keys = [
    [gh.refs, "ref", `refs/heads/${name}`],
    [gh.branches, "name", name],
  ];
  return keys.map(([rows, key, value]) => [
    rows,
    key,
    value,
    rows.findBy("repo_id", repo.id).find((each) => each[key] === value),
  ]);
}

export function removeBranch(world, repo, name) {
  for (const [rows, , , row] of rowsOfBranch(world, repo, name)) rows.delete(row.id);
}

export function setBranch(world, repo, name, sha) {
  for (const [rows, key, value, row] of rowsOfBranch(world, repo, name)) {
    if (row) rows.update(row.id, { sha });
    else rows.insert({ repo_id: repo.id, [key]: value, sha, node_id: "", protected: false });
  }
}

/** The repositories of a network: everything forked from the same root. */
function networkOf({ gh }, repo) {
  const rootOf = (row) => (row?.forked_from_id ? rootOf(gh.repos.get(row.forked_from_id)) : row?.id);
  return gh.repos.all().filter((row) => rootOf(row) === rootOf(repo));
}

/** POST /forks: emulate's fork has a commit of its own; give it the source's. A fork that exists is answered again. */
async function fork(call) {
  const { world, repo, body } = call;
  if (!call.owner || call.owner.installation) return problem(403, "Resource not accessible by integration");
  const owner = body.organization ?? call.owner.login;
  const existing = world.gh.repos
    .all()
    .find((row) => row.forked_from_id === repo.id && row.full_name.startsWith(`${owner}/`));
  if (existing) return forkAnswer(call, existing);
  const answer = await call.pass();
  if (answer.status !== 202) return answer;
  const made = world.gh.repos.get((await answer.json()).id);
  for (const rows of [world.gh.refs, world.gh.branches]) {
    for (const row of rows.findBy("repo_id", made.id)) rows.delete(row.id);
  }
  copyObjects(world, repo, made);
  const branches = world.gh.branches.findBy("repo_id", repo.id);
  for (const { name, sha } of branches) {
    if (!body.default_branch_only || name === repo.default_branch) setBranch(world, made, name, sha);
  }
  return forkAnswer(call, made);
}

/** The fork, as GET /repos tells it; 202. */
async function forkAnswer(call, made) {
  const url = `${call.world.url}/repos/${made.full_name}`;
  const answer = await call.inner(
    new Request(url, {
      headers: call.request.headers.get("authorization")
        ? { authorization: call.request.headers.get("authorization") }
        : {},
    }),
  );
  const body = await complete(call, made, await answer.json());
  return new Response(JSON.stringify(body), { status: 202, headers: answer.headers });
}

/** POST /git/refs: the commits of the whole network can be named. */
async function createRef(call) {
  const { world, repo, body } = call;
  for (const relative of networkOf(world, repo)) {
    const has = world.gh.commits.findBy("repo_id", relative.id).some(({ sha }) => sha === body.sha);
    if (has && relative.id !== repo.id) copyObjects(world, relative, repo);
  }
  return call.pass();
}

function isAncestor({ gh }, repo, ancestor, sha) {
  const commits = new Map(gh.commits.findBy("repo_id", repo.id).map((row) => [row.sha, row]));
  const todo = [sha];
  for (const each of todo) {
    if (each === ancestor) return true;
    todo.push(...(commits.get(each)?.parent_shas ?? []));
  }
  return false;
}

async function mergeUpstream(call) {
  const { world, repo, body } = call;
  const refused = call.refuseWithout("contents", "write");
  if (refused) return refused;
  const parent = repo.forked_from_id && world.gh.repos.get(repo.forked_from_id);
  if (!parent) return problem(422, "The repository is not a fork.");
  const theirs = world.commit(parent, body.branch);
  const ours = world.commit(repo, body.branch);
  if (!theirs || !ours) return problem(422, "The branch does not exist.");
  copyObjects(world, parent, repo);
  const base = `${parent.full_name.split("/")[0]}:${body.branch}`;
  if (isAncestor(world, repo, theirs.sha, ours.sha)) {
    return json(200, {
      message: `This branch is not behind the upstream ${base}.`,
      merge_type: "none",
      base_branch: base,
    });
  }
  if (!isAncestor(world, repo, ours.sha, theirs.sha)) return problem(409, "There are merge conflicts.");
  setBranch(world, repo, body.branch, theirs.sha);
  return json(200, {
    message: `Successfully fetched and fast-forwarded from upstream ${base}.`,
    merge_type: "fast-forward",
    base_branch: base,
  });
}

/** POST /pulls: there is one open pull request of a branch. */
async function openPull(call) {
  const { world, repo, body } = call;
  const isSame = (row) => row.state === "open" && row.head_ref === body.head && row.base_ref === body.base;
  if (world.gh.pullRequests.findBy("repo_id", repo.id).some(isSame)) {
    return problem(422, `Validation Failed: A pull request already exists for ${body.head}.`);
  }
  return call.pass();
}

export const REPOSITORIES = ofRepository([
  ["GET", /^$/, getRepository],
  ["POST", /^\/forks$/, fork],
  ["POST", /^\/git\/refs$/, createRef],
  ["POST", /^\/pulls$/, openPull],
  ["POST", /^\/merge-upstream$/, mergeUpstream],
]);
