/** The code host's own OpenAPI description (@octokit/openapi), cut to the paths that expops may use. Reading the whole one
 * takes three times as long and twice the memory. A request to a path that is not listed here is a violation. */
import { readFileSync } from "node:fs";

const FILE = new URL("../../../node_modules/@octokit/openapi/generated/api.github.com.json", import.meta.url);

const REPO = "/repos/{owner}/{repo}";

const PATHS = new Set([
  "/app",
  "/app-manifests/{code}/conversions",
  "/app/hook/deliveries",
  "/app/hook/deliveries/{delivery_id}",
  "/app/hook/deliveries/{delivery_id}/attempts",
  "/app/installations/{installation_id}",
  "/app/installations/{installation_id}/access_tokens",
  "/applications/{client_id}/grant",
  "/applications/{client_id}/token",
  "/installation/repositories",
  "/installation/token",
  "/orgs/{org}/installation",
  "/user",
  "/user/emails",
  "/user/installations",
  "/user/installations/{installation_id}/repositories",
  "/user/repos",
  "/users/{username}",
  "/users/{username}/installation",
  REPO,
  `${REPO}/actions/runs`,
  `${REPO}/actions/runs/{run_id}`,
  `${REPO}/actions/runs/{run_id}/artifacts`,
  `${REPO}/actions/runs/{run_id}/cancel`,
  `${REPO}/actions/secrets`,
  `${REPO}/actions/secrets/public-key`,
  `${REPO}/actions/secrets/{secret_name}`,
  `${REPO}/actions/workflows`,
  `${REPO}/actions/workflows/{workflow_id}`,
  `${REPO}/actions/workflows/{workflow_id}/dispatches`,
  `${REPO}/actions/workflows/{workflow_id}/runs`,
  `${REPO}/branches`,
  `${REPO}/branches/{branch}`,
  `${REPO}/commits`,
  `${REPO}/commits/{ref}`,
  `${REPO}/compare/{basehead}`,
  `${REPO}/contents/{path}`,
  `${REPO}/forks`,
  `${REPO}/git/ref/{ref}`,
  `${REPO}/git/refs`,
  `${REPO}/git/refs/{ref}`,
  `${REPO}/installation`,
  `${REPO}/issues`,
  `${REPO}/issues/{issue_number}`,
  `${REPO}/issues/{issue_number}/comments`,
  `${REPO}/merge-upstream`,
  `${REPO}/pulls`,
  `${REPO}/pulls/{pull_number}`,
  `${REPO}/pulls/{pull_number}/files`,
  `${REPO}/pulls/{pull_number}/merge`,
  `${REPO}/readme`,
]);

/** Add every `$ref` inside `value` to `found`. */
function collectReferences(value, found) {
  if (value === null || typeof value !== "object") return;
  if (typeof value.$ref === "string") found.add(value.$ref);
  for (const member of Object.values(value)) collectReferences(member, found);
}

/** The components that `paths` need, and those that these need. */
function cutComponents(paths, components) {
  const references = new Set();
  const kept = {};
  collectReferences(paths, references);
  for (const reference of references) {
    // A set that grows while it is iterated is iterated to its end.
    const [kind, name] = reference.split("/").slice(2);
    kept[kind] ??= {};
    kept[kind][name] = components[kind][name];
    collectReferences(kept[kind][name], references);
  }
  return kept;
}

export function readDescription() {
  const { openapi, info, servers, paths, components } = JSON.parse(readFileSync(FILE, "utf8"));
  const kept = Object.fromEntries(Object.entries(paths).filter(([path]) => PATHS.has(path)));
  const missing = [...PATHS].filter((path) => !(path in kept));
  if (missing.length > 0) throw new Error(`the description has no ${missing.join(", ")}`);
  return { openapi, info, servers, paths: kept, components: cutComponents(kept, components) };
}
