/** Workflows and runs. emulate has both, but no file becomes a workflow, and no run ever changes. */
import { parse } from "yaml";

import { json, ofRepository, problem } from "./answers.mjs";

const FOLDER = ".github/workflows/";
const INPUTS_MAX = 25;

/** `on.workflow_dispatch` of a workflow file: an object, or undefined if it cannot be dispatched. */
function dispatchOf(text) {
  const on = parse(text)?.on;
  if (on === "workflow_dispatch" || (Array.isArray(on) && on.includes("workflow_dispatch"))) return {};
  return on && "workflow_dispatch" in on ? (on.workflow_dispatch ?? {}) : undefined;
}

function nameOf(path, text) {
  try {
    return parse(text)?.name ?? path;
  } catch {
    return path;
  }
}

/** Make emulate's workflows those of the files on the default branch. */
function syncWorkflows({ gh }, repo, files) {
  const known = new Map(gh.workflows.findBy("repo_id", repo.id).map((row) => [row.path, row]));
  for (const [path, text] of Object.entries(files)) {
    if (!path.startsWith(FOLDER) || !/\.ya?ml$/.test(path) || known.delete(path)) continue;
    const row = gh.workflows.insert({
      repo_id: repo.id,
      node_id: "",
      name: nameOf(path, text),
      path,
      state: "active",
      badge_url: null,
    });
    gh.workflows.update(row.id, { node_id: `W_${row.id}` });
  }
  for (const row of known.values()) gh.workflows.delete(row.id);
}

async function passWithWorkflows(call) {
  syncWorkflows(call.world, call.repo, call.world.files(call.repo));
  return call.pass();
}

/** What the code host says about inputs that the workflow does not take; undefined if they are right. */
function inputProblem(declared, given) {
  const names = Object.keys(given);
  if (names.length > INPUTS_MAX)
    return `you may only define up to ${INPUTS_MAX} \`inputs\` for a \`workflow_dispatch\` event`;
  if (names.some((name) => typeof given[name] !== "string")) return "Invalid request.\n\nInputs are strings.";
  const unexpected = names.filter((name) => !(name in declared));
  if (unexpected.length > 0) return `Unexpected inputs provided: ${JSON.stringify(unexpected)}`;
  for (const [name, row] of Object.entries(declared)) {
    if (row?.required && row.default === undefined && !given[name]) return `Required input '${name}' not provided`;
    if (row?.type === "choice" && given[name] && !row.options.includes(given[name])) {
      return `Provided value '${given[name]}' for input '${name}' not in the list of allowed values`;
    }
  }
  return undefined;
}

/** The file of a workflow that is named by its file name or id. */
function pathOf(world, repo, workflow) {
  const row = world.gh.workflows.get(Number(workflow));
  return row?.repo_id === repo.id ? row.path : FOLDER + workflow;
}

async function dispatch(call, workflow) {
  const { world, repo, body } = call;
  const refused = call.refuseWithout("actions", "write");
  if (refused) return refused;
  if (repo.archived) return problem(403, "Repository was archived so is read-only.");
  const byDefault = world.files(repo);
  syncWorkflows(world, repo, byDefault);
  const path = pathOf(world, repo, workflow);
  if (!(path in byDefault)) return problem(404, "Not Found");
  const branch = String(body.ref).replace(/^refs\/heads\//, "");
  if (!world.commit(repo, branch)) return problem(422, `No ref found for: ${body.ref}`);
  const text = world.files(repo, branch)[path];
  const declared = text === undefined ? undefined : dispatchOf(text);
  if (!declared) return problem(422, "Workflow does not have 'workflow_dispatch' trigger");
  const reason = inputProblem(declared.inputs ?? {}, body.inputs ?? {});
  if (reason) return problem(422, reason);
  const answer = await call.pass({ text: JSON.stringify({ ref: branch, inputs: body.inputs ?? {} }) });
  if (answer.status !== 204) return answer;
  const run = world.gh.workflowRuns.findBy("repo_id", repo.id).at(-1);
  world.inputs.set(run.id, body.inputs ?? {});
  return body.return_run_details ? json(200, runDetails(world, repo, run)) : json(204, null);
}

function runDetails(world, repo, run) {
  return {
    workflow_run_id: run.id,
    run_url: `${world.url}/repos/${repo.full_name}/actions/runs/${run.id}`,
    html_url: `${world.url}/${repo.full_name}/actions/runs/${run.id}`,
  };
}

async function cancel(call, id) {
  const refused = call.refuseWithout("actions", "write");
  if (refused) return refused;
  const run = call.world.gh.workflowRuns.get(Number(id));
  if (run?.repo_id !== call.repo.id) return problem(404, "Not Found");
  if (run.status === "completed") return problem(409, "Cannot cancel a workflow run that is completed.");
  const answer = await call.pass();
  return answer.status === 202 ? json(202, {}) : answer;
}

/** Give a run another state, as a runner would, and send the event of it. Returns the run as the API tells it. */
export async function changeRun(world, inner, id, changes) {
  const run = world.gh.workflowRuns.update(Number(id), changes);
  const repo = world.gh.repos.get(run.repo_id);
  const [owner, name] = repo.full_name.split("/");
  const headers = { authorization: `Bearer ${world.repositoryToken(repo)}` };
  const answer = await inner(new Request(`${world.url}/repos/${repo.full_name}/actions/runs/${id}`, { headers }));
  const told = await answer.json();
  const payload = { workflow_run: told, repository: told.repository, sender: told.actor };
  await world.webhooks.dispatch("workflow_run", run.status, payload, owner, name);
  return told;
}

export const ACTIONS = ofRepository([
  ["POST", /^\/actions\/workflows\/([^/]+)\/dispatches$/, dispatch],
  ["GET", /^\/actions\/workflows(?:\/.*)?$/, passWithWorkflows],
  ["POST", /^\/actions\/runs\/(\d+)\/cancel$/, cancel],
]);
