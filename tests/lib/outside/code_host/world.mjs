/** What exists at the code host: users, organisations, repositories with their files, installations of the app, and tokens.
 * All of it is kept in emulate's store; this is what tests need of it beyond the REST API. */
import { createSign, randomBytes } from "node:crypto";

import { newAppState } from "./manifest.mjs";
import { newOAuthState } from "./oauth.mjs";

const WRITES = new Set(["push", "write", "maintain", "admin"]);

export class World {
  constructor({ module, store, tokens, url, webhooks }, config) {
    Object.assign(this, { module, store, tokens, url, webhooks, config });
    this.clear();
  }

  clear() {
    this.gh = this.module.getGitHubStore(this.store);
    this.expiry = new Map(); // token -> ms
    this.ownTokens = new Map(); // repository id -> token of the stand-in itself
    this.renamed = new Map(); // old full name in lower case -> repository id
    this.secrets = new Map(); // `id/NAME` -> sealed value
    this.inputs = new Map(); // run id -> inputs of its dispatch
    this.oauth = newOAuthState();
    this.app = newAppState();
    this.nextInstallation = 1000 + Math.floor(Math.random() * 1e6);
  }

  seed(rows) {
    this.module.seedFromConfig(this.store, this.url, rows);
  }

  /** Create a user; returns its row. */
  addUser({ login, name, email }) {
    this.seed({ users: [{ login, name, email: email ?? `${login}@example.org` }] });
    return this.gh.users.findOneBy("login", login);
  }

  addOrganisation({ login, members = [] }) {
    this.seed({ orgs: [{ login, members }] });
    return this.gh.orgs.findOneBy("login", login);
  }

  addRepository({ owner, name, ...rest }) {
    this.seed({ repos: [{ owner, name, ...rest }] });
    return this.repository(`${owner}/${name}`);
  }

  addCollaborator({ repo, login, permission = "push" }) {
    const { id } = this.repository(repo);
    return this.gh.collaborators.insert({ repo_id: id, user_id: this.user(login).id, permission });
  }

  user(login) {
    const found = this.gh.users.findOneBy("login", login);
    if (!found) throw new Error(`no user ${login}`);
    return found;
  }

  /** The repository of a full name in any case; undefined if there is none. */
  repository(fullName) {
    const name = fullName.toLowerCase();
    return this.gh.repos.all().find((repo) => repo.full_name.toLowerCase() === name);
  }

  /** Give a repository another name, or another owner (a login). The old name leads to it until another repository has it. */
  rename(repo, { name = repo.name, owner = repo.full_name.split("/")[0] }) {
    this.renamed.set(repo.full_name.toLowerCase(), repo.id);
    const user = this.gh.users.findOneBy("login", owner);
    const { id } = user ?? this.gh.orgs.findOneBy("login", owner);
    return this.gh.repos.update(repo.id, {
      name,
      full_name: `${owner}/${name}`,
      owner_id: id,
      owner_type: user ? "User" : "Organization",
    });
  }

  /** Archive or disable a repository, or undo it: what is not undefined. */
  change(repo, states) {
    const given = Object.entries(states).filter(([, value]) => value !== undefined);
    return this.gh.repos.update(repo.id, Object.fromEntries(given));
  }

  /** Install the app for an account; on all of its repositories, or on `repositories` (names). */
  addInstallation({ account, repositories, permissions }) {
    const user = this.gh.users.findOneBy("login", account);
    const owner = user ?? this.gh.orgs.findOneBy("login", account);
    const [app] = this.gh.apps.all();
    return this.gh.appInstallations.insert({
      installation_id: this.nextInstallation++,
      app_id: app.app_id,
      account_type: user ? "User" : "Organization",
      account_id: owner.id,
      account_login: account,
      repository_selection: repositories ? "selected" : "all",
      repository_ids: (repositories ?? []).map((name) => this.repository(`${account}/${name}`).id),
      permissions: permissions ?? app.permissions,
      events: app.events,
      suspended_at: null,
    });
  }

  installation(id) {
    return this.gh.appInstallations.all().find((row) => row.installation_id === Number(id));
  }

  /** Remove an installation and its tokens. */
  removeInstallation(id) {
    this.gh.appInstallations.delete(this.installation(id).id);
    this.dropTokens((token) => token.installation?.installationId === Number(id));
  }

  /** A token of a user, as OAuth gives it. `lifetime` in seconds; without one it does not end. */
  addToken(login, scopes = ["repo", "user"], lifetime) {
    const token = `gho_${randomBytes(27).toString("base64url")}`;
    this.tokens.set(token, { login, id: this.user(login).id, scopes });
    if (lifetime) this.expiry.set(token, Date.now() + lifetime * 1000);
    return token;
  }

  /** A new token of one repository, like the one of a workflow run, for `permissions`; or that of the stand-in itself, for
   * its own calls of emulate, which may do everything. */
  repositoryToken(repo, permissions) {
    const token = (permissions ? undefined : this.ownTokens.get(repo.id)) ?? randomBytes(24).toString("hex");
    if (!permissions) this.ownTokens.set(repo.id, token);
    const all = Object.fromEntries(
      ["contents", "pull_requests", "issues", "actions", "workflows"].map((name) => [name, "write"]),
    );
    const installation = {
      installationId: 0,
      appId: this.config.app.id,
      accountId: repo.owner_id,
      accountType: repo.owner_type,
      permissions: permissions ?? all,
      repositoryIds: [repo.id],
      repositorySelection: "selected",
    };
    this.tokens.set(token, { login: repo.full_name.split("/")[0], id: 0, scopes: [], installation });
    return token;
  }

  /** A JWT of the app, for the stand-in's own calls. */
  appToken() {
    const now = Math.floor(Date.now() / 1000);
    const encode = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const text = `${encode({ alg: "RS256" })}.${encode({ iat: now, exp: now + 60, iss: String(this.config.app.id) })}`;
    return `${text}.${createSign("RSA-SHA256").update(text).sign(this.config.app.key, "base64url")}`;
  }

  dropTokens(matches) {
    for (const [token, owner] of this.tokens) if (matches(owner, token)) this.tokens.delete(token);
  }

  /** Whose valid token it is: emulate's row; undefined if there is none. */
  ownerOf(token) {
    return Date.now() < (this.expiry.get(token) ?? Infinity) ? this.tokens.get(token) : undefined;
  }

  isMember(userId, repo) {
    if (repo.owner_type !== "Organization") return false;
    const teams = new Set(this.gh.teams.findBy("org_id", repo.owner_id).map(({ id }) => id));
    return this.gh.teamMembers.findBy("user_id", userId).some(({ team_id }) => teams.has(team_id));
  }

  /** The permission of a token's owner on a repository: `admin`, `push`, `pull` or null. */
  permission(owner, repo) {
    const publicly = repo.private ? null : "pull";
    if (!owner) return publicly;
    if (owner.installation) return this.covers(owner.installation, repo) ? "push" : publicly;
    const user = this.gh.users.findOneBy("login", owner.login);
    if (!user) return publicly;
    if (repo.owner_type === "User" && repo.owner_id === user.id) return "admin";
    if (this.isMember(user.id, repo)) return "admin";
    const row = this.gh.collaborators.findBy("repo_id", repo.id).find(({ user_id }) => user_id === user.id);
    if (!row) return publicly;
    if (row.permission === "admin") return "admin";
    return WRITES.has(row.permission) ? "push" : "pull";
  }

  covers(installation, repo) {
    if (repo.owner_id !== installation.accountId || repo.owner_type !== installation.accountType) return false;
    return installation.repositorySelection === "all" || installation.repositoryIds.includes(repo.id);
  }

  /** The commit of a branch; undefined if there is none. */
  commit(repo, branch) {
    const ref = this.gh.refs.findBy("repo_id", repo.id).find((row) => row.ref === `refs/heads/${branch}`);
    return ref && this.gh.commits.findBy("repo_id", repo.id).find(({ sha }) => sha === ref.sha);
  }

  /** {path: text} of the files below a tree. */
  filesOfTree(repo, sha, prefix = "") {
    const tree = this.gh.trees.findBy("repo_id", repo.id).find((row) => row.sha === sha);
    const files = {};
    for (const entry of tree?.tree ?? []) {
      const path = prefix + entry.path;
      if (entry.type === "tree") Object.assign(files, this.filesOfTree(repo, entry.sha, `${path}/`));
      else files[path] = this.gh.blobs.findBy("repo_id", repo.id).find((row) => row.sha === entry.sha)?.content;
    }
    return files;
  }

  /** {path: text} of a branch. */
  files(repo, branch = repo.default_branch) {
    const commit = this.commit(repo, branch);
    return commit ? this.filesOfTree(repo, commit.tree_sha) : {};
  }
}
