#include "command/api.h"
#include "command/command.h"
#include "command/completion.h"
#include "command/help.h"
#include "command/login.h"
#include "command/make.h"
#include "command/manual.h"
#include "command/papers.h"
#include "command/removal.h"
#include "command/results.h"
#include "command/work.h"
#include "show/views.h"

#define LIMIT                                                                    \
	{                                                                        \
		"--limit", 'n', "N", .field = "limit", .flags = PARAMETER_LIMIT, \
				     .help = "how many at most"                  \
	}
#define ALL                                                               \
	{                                                                 \
		"--all", 0, .flags = PARAMETER_ALL, .help = "all of them" \
	}
#define WAIT                                                                                  \
	{                                                                                     \
		"--wait", 'w', .help = "follow it to its end; Ctrl-C ends the following only" \
	}
/* Of what cannot be undone: the object, which removal_run() finds by its whole name, and the
 * question. */
#define WHOLE(noun, kind, field)                                                       \
	{                                                                              \
		(noun), 0, NULL, (kind), (field),                                      \
			.flags = PARAMETER_REQUIRED,                                   \
			.help = "its whole name, a number of the last list, or its id" \
	}
#define YES                                                                                    \
	{                                                                                      \
		"--yes", 'y', .help = "do not ask; nobody is asked where there is no terminal" \
	}
#define INTEREST_OPTION                                                           \
	{                                                                         \
		"--interest", 'i', "INTEREST", REFERENCE_INTEREST, "interest_id", \
			.help = "only this interest"                              \
	}
#define REPOSITORY_OPTION                                                                          \
	{                                                                                          \
		"--repo", 'r', "REPO", .field = "repo", .help = "only this repository, owner/name" \
	}

const struct parameter COMMON_OPTIONS[] = {
	{"--output", 'o', "FORM", .help = "text, json or jsonl (an item of a list a line)"},
	{"--profile", 0, "PROFILE", .help = "the profile of expops login to use"},
	{"--help", 'h', .help = "describe the command"},
	{"--version", 0, .help = "print the version"},
	{0},
};

/* ---- access ---- */

static const struct parameter LOGIN[] = {
	{"--url", 'u', "URL",
         .help = "the address of the service; it is asked for where there is a terminal"},
	{"--ca-file", 0, "FILE", .flags = PARAMETER_FILE,
         .help = "certificates of the authorities to trust, PEM"},
	{0},
};

static const struct parameter PROFILE[] = {
	{"PROFILE", .flags = PARAMETER_REQUIRED, .help = "one that expops profiles lists"},
	{0},
};

/* ---- papers ---- */

static const struct parameter DIGEST[] = {
	{"--interest", 'i', "INTEREST", REFERENCE_INTEREST,
         .help = "only this interest, its name or the beginning of it"},
	{"--week", 0, .help = "of the last seven days, not of today"},
	{"--all", 0, .help = "all that was ever recommended"},
	{"--limit", 'n', "N", .help = "how many of an interest at most; over 10 only with -i"},
	{0},
};

static const struct parameter REFRESH[] = {
	INTEREST_OPTION,
	{"--limit", 'n', "N", .field = "num_results", .help = "how many to recommend for each"},
	WAIT,
	{0},
};

static const struct parameter SEARCH[] = {
	{"WORDS", .field = "query", .flags = PARAMETER_REQUIRED | PARAMETER_REST,
         .help = "what the paper is about"},
	{"--limit", 'n', "N", .field = "max_results", .flags = PARAMETER_LIMIT,
         .help = "how many at most"},
	{"--category", 'c', "CATEGORY", .field = "categories",
         .help = "only of this category, cs.LG; may be repeated"},
	{"--container", 0, .field = "has_container", .constant = "true",
         .help = "only with a container to run it in"},
	{0},
};

static const struct parameter PAPER[] = {
	{"PAPER", 0, NULL, REFERENCE_PAPER, "arxiv_id", .flags = PARAMETER_REQUIRED,
         .help = "its arXiv id, its address, or a number of the last list"},
	{0},
};

static const struct parameter RECOMMENDATION[] = {
	{"N", 0, NULL, REFERENCE_RECOMMENDATION, "recommendation_id", .flags = PARAMETER_REQUIRED,
         .help = "its number in the last digest, or its id"},
	{0},
};

/* ---- interests ---- */

static const struct parameter LIMITED[] = {LIMIT, ALL, {0}};

static const struct parameter INTEREST[] = {
	{"INTEREST", 0, NULL, REFERENCE_INTEREST, "interest_id", .flags = PARAMETER_REQUIRED,
         .help = "its name, the beginning of it, a number of the last list, or its id"},
	{0},
};

static const struct parameter INTEREST_REMOVE[] = {
	WHOLE("INTEREST", REFERENCE_INTEREST, "interest_id"),
	YES,
	{0},
};

static const struct parameter SCHEDULE[] = {
	{"INTEREST", 0, NULL, REFERENCE_INTEREST, "interest_id", .flags = PARAMETER_REQUIRED,
         .help = "its name, the beginning of it, a number of the last list, or its id"},
	{"EVERY", .flags = PARAMETER_REQUIRED, .help = "off, daily or weekly"},
	{"--at", 0, "HH:MM", .help = "the time of day"},
	{"--weekday", 0, "N", .help = "of weekly: 1 is Monday, 7 is Sunday"},
	{"--time-zone", 0, "ZONE", .help = "whose clocks count, such as Europe/Berlin"},
	{0},
};

static const struct parameter INTEREST_ADD[] = {
	{"NAME", .field = "name",
         .help = "unique; may be left out with --repo, whose name it then has"},
	{"--context", 'c', "FILE", .flags = PARAMETER_FILE,
         .help = "what it is about, sentences and addresses; - for standard input"},
	{"--repo", 'r', "REPO", .flags = PARAMETER_FILE,
         .help = "the repository that it is about: . for the origin of this checkout, owner/name, "
                 "or an address"},
	{"--daily", 'n', "N", .field = "daily_count", .help = "how many papers a day"},
	{"--update", 'u', .help = "change the interest of this name, if there is one"},
	{0},
};

static const struct parameter LEARN[] = {
	{"INTEREST", 0, NULL, REFERENCE_INTEREST, .flags = PARAMETER_REQUIRED,
         .help = "its name, or the beginning of it"},
	WAIT,
	{0},
};

/* ---- agents ---- */

static const struct parameter PROVISION[] = {
	{"INTEREST", 0, NULL, REFERENCE_INTEREST, .flags = PARAMETER_REQUIRED,
         .help = "its name, or the beginning of it"},
	{"--agent", 'a', "AGENT", .field = "agent", .help = "agent_one, agent_two or agent_three"},
	{"--repo", 'r', "REPO", .flags = PARAMETER_FILE,
         .help = "the repository, if the interest has none; . for this checkout"},
	{"--branch", 'b', "BRANCH", .field = "branch", .help = "where the workflow is proposed"},
	{"--merge", 0, .field = "auto_merge", .constant = "true",
         .help = "merge the pull request at once"},
	WAIT,
	{0},
};

static const struct parameter RUN[] = {
	{"REPO", .flags = PARAMETER_REQUIRED | PARAMETER_FILE,
         .help = "owner/name, an address, or . for this checkout"},
	{"--paper", 'p', "PAPER", REFERENCE_PAPER, "pin_arxiv",
         .help = "work on this paper: its arXiv id or a number of the last list"},
	INTEREST_OPTION,
	{"--agent", 'a', "AGENT", .field = "agent", .help = "another agent than the installed one"},
	{"--provider", 0, "PROVIDER", .field = "provider", .help = "of the model"},
	{"--model", 'm', "MODEL", .field = "model", .help = "another model"},
	WAIT,
	{0},
};

static const struct parameter RUN_STATUS[] = {
	{"REPO", .field = "repo", .flags = PARAMETER_REQUIRED, .help = "owner/name"},
	{0},
};

static const struct parameter RUNS[] = {
	REPOSITORY_OPTION,
	INTEREST_OPTION,
	{"--outcome", 0, "OUTCOME", .field = "outcome_kind",
         .help = "pull_request, issue, failed, ..."},
	{"--since", 's', "DATE", .field = "since", .help = "started since this day, 2026-01-31"},
	LIMIT,
	ALL,
	{0},
};

static const struct parameter REPORT[] = {
	{"--since", 's', "DATE", .field = "since", .help = "from this day on, 2026-01-31"},
	{"--until", 'u', "DATE", .field = "until", .help = "to this day"},
	{"--repo", 'r', "REPO", .field = "repos",
         .help = "only this repository, owner/name; may be repeated"},
	{0},
};

static const struct parameter INBOX_DISMISS[] = {
	{"N", 0, NULL, REFERENCE_INBOX_ITEM, "id", .flags = PARAMETER_REQUIRED,
         .help = "its number in the last inbox, or its id"},
	{0},
};

/* ---- experiments ---- */

static const struct parameter EXPERIMENTS[] = {
	{"--status", 's', "STATUS", .field = "status",
         .help = "draft, running, complete, analyzing, shipped, ..."},
	LIMIT,
	ALL,
	{0},
};

static const struct parameter EXPERIMENT[] = {
	{"EXPERIMENT", 0, NULL, REFERENCE_EXPERIMENT, "experiment_id", .flags = PARAMETER_REQUIRED,
         .help = "its name, the beginning of it, a number of the last list, or its id"},
	{0},
};

static const struct parameter EXPERIMENT_ADD[] = {
	{"NAME", .field = "name", .flags = PARAMETER_REQUIRED, .help = "what is tried"},
	{"--paper", 'p', "PAPER",
         .help = "where the idea is from: an arXiv id or a number of the last list"},
	{"--hypothesis", 0, "TEXT", .field = "hypothesis", .help = "what is expected"},
	{"--metric", 'm', "METRIC", .field = "target_metric", .help = "what it is measured by"},
	{0},
};

static const struct parameter RESULTS_ADD[] = {
	{"EXPERIMENT", .kind = REFERENCE_EXPERIMENT, .flags = PARAMETER_REQUIRED,
         .help = "its name, or the beginning of it"},
	{"FILE", .flags = PARAMETER_REQUIRED | PARAMETER_FILE, .help = "CSV; - for standard input"},
	{"--trial", 0, .help = "analyse, and store nothing"},
	{0},
};

static const struct parameter IMPLEMENT[] = {
	{"EXPERIMENT", .flags = PARAMETER_REQUIRED, .kind = REFERENCE_EXPERIMENT,
         .help = "its name, or the beginning of it"},
	WAIT,
	{0},
};

/* ---- evaluations ---- */

static const struct parameter EVAL_RUNS[] = {
	{"--template", 't', "TEMPLATE", REFERENCE_TEMPLATE, "template_id",
         .help = "only of this template"},
	{"--status", 's', "STATUS", .field = "status",
         .help = "queued, running, succeeded, failed, ..."},
	LIMIT,
	ALL,
	{0},
};

static const struct parameter EVAL_RUN[] = {
	{"TEMPLATE", 0, NULL, REFERENCE_TEMPLATE, "template_id", .flags = PARAMETER_REQUIRED,
         .help = "its name, or the beginning of it"},
	{"NAME=VALUE", .flags = PARAMETER_REST, .help = "a parameter of the run"},
	{"--build", 'b', "BUILD", REFERENCE_BUILD, "build_id",
         .help = "run it in the image of this build"},
	{"--name", 0, "NAME", .field = "name", .help = "of the run"},
	WAIT,
	{0},
};

static const struct parameter EVAL_SHOW[] = {
	{"RUN", 0, NULL, REFERENCE_EVAL_RUN, "run_id", .flags = PARAMETER_REQUIRED,
         .help = "its name, a number of the last list, or its id"},
	WAIT,
	{0},
};

static const struct parameter EVAL_CANCEL[] = {
	WHOLE("RUN", REFERENCE_EVAL_RUN, "run_id"),
	YES,
	{0},
};

static const struct parameter EVAL_BUILD[] = {
	{"--repo", 'r', "REPO", .flags = PARAMETER_FILE,
         .help = "of this repository; . for this checkout"},
	{"--ref", 0, "REF", .field = "ref", .help = "its branch, tag or commit"},
	{"--paper", 'p', "PAPER", REFERENCE_PAPER, "arxiv_id",
         .help = "of the container file of this paper"},
	{"--file", 'f', "FILE", .flags = PARAMETER_FILE, .help = "of this container file"},
	WAIT,
	{0},
};

/* ---- keys ---- */

static const struct parameter KEY_ADD[] = {
	{"NAME", .field = "name", .flags = PARAMETER_REQUIRED, .help = "where it is used"},
	{"--preset", 0, "PRESET", .field = "preset",
         .help = "full_access, read_only, agent or automation"},
	{"--scope", 's', "SCOPE", .field = "scopes",
         .help = "in place of a preset; may be repeated"},
	{"--days", 0, "N", .field = "expires_in_days", .help = "for how long it is valid"},
	{0},
};

static const struct parameter KEY_EDIT[] = {
	{"KEY", 0, NULL, REFERENCE_KEY, "key_id", .flags = PARAMETER_REQUIRED,
         .help = "its name, a number of the last list, or its id"},
	{"--name", 0, "NAME", .field = "name", .help = "where it is used"},
	{"--scope", 's', "SCOPE", .field = "scopes",
         .help = "what it may do, in place of before; may be repeated"},
	{"--days", 0, "N", .field = "expires_in_days",
         .help = "for how long it is valid from now, or null: for ever"},
	{0},
};

static const struct parameter KEY_REVOKE[] = {
	WHOLE("KEY", REFERENCE_KEY, "key_id"),
	YES,
	{0},
};

static const struct parameter TASK[] = {
	{"ID", .flags = PARAMETER_REQUIRED, .help = "of the task"},
	WAIT,
	{0},
};

/* ---- everything else ---- */

static const struct parameter API[] = {
	{"OPERATION", .help = "its id; without one, they are listed"},
	{"FIELD=VALUE", .flags = PARAMETER_REST,
         .help = "a parameter or a member of the body; FIELD=@FILE reads a file, FIELD:=JSON takes "
                 "any value"},
	{"--data", 'd', "FILE", .flags = PARAMETER_FILE, .help = "the body, - for standard input"},
	{0},
};

static const struct parameter COMPLETION[] = {
	{"SHELL", .flags = PARAMETER_REQUIRED, .help = "bash, zsh or fish"},
	{0},
};

static const struct parameter COMPLETE[] = {
	{"WORD", .flags = PARAMETER_REST, .help = "the words up to the cursor"},
	{0},
};

static const struct parameter HELP[] = {
	{"COMMAND", .flags = PARAMETER_REST, .help = "of this command"},
	{0},
};

const struct command COMMANDS[] = {
	{"Access", "login", "api_keys_list", LOGIN, "store an address and a key, after trying them",
         .run = login_run,
         .help = "Without a terminal the key is the first line of standard input. Several profiles "
                 "can be stored: "
                 "--profile NAME, or EXPOPS_PROFILE. EXPOPS_URL and EXPOPS_KEY win over all."},
	{NULL, "logout", NULL, NULL, "forget the profile", .run = logout_run},
	{NULL, "whoami", "api_keys_list", NULL, "the address, the key and its scopes", &WHOAMI_VIEW,
         whoami_run},
	{NULL, "profiles", NULL, NULL, "list the profiles", .run = profiles_run},
	{NULL, "profile", NULL, PROFILE, "make a profile the default one", .run = profile_run},
	{"Papers", "digest", "recommendations_digest_get", DIGEST, "what is recommended today",
         .run = digest_run},
	{NULL, "search", "asset_search", SEARCH, "search all papers", &VIEW_PAPERS},
	{NULL, "paper", "asset_get", PAPER, "one paper", &VIEW_PAPER},
	{NULL, "like", "recommendation_feedback", RECOMMENDATION, "more of this",
         .run = feedback_run},
	{NULL, "dislike", "recommendation_feedback", RECOMMENDATION, "less of this",
         .run = feedback_run},
	{NULL, "save", "recommendation_feedback", RECOMMENDATION, "keep it for later",
         .run = feedback_run},
	{NULL, "why", "recommendation_explanation", RECOMMENDATION, "why it was recommended",
         &VIEW_EXPLANATION},
	{NULL, "refresh", "recommendations_refresh", REFRESH, "compute recommendations now",
         .run = refresh_run},

	{"Interests", "interests", "interests_list", LIMITED, "what the team is interested in",
         &VIEW_INTERESTS},
	{NULL, "interest", "interest_get", INTEREST, "one interest", &VIEW_INTEREST},
	{NULL, "interest add", "interest_create", INTEREST_ADD, "make an interest",
         .run = interest_add_run},
	{NULL, "interest remove", "interest_delete", INTEREST_REMOVE,
         "delete an interest and its recommendations", &VIEW_INTEREST, removal_run},
	{NULL, "learn", "preference_model_refit", LEARN, "fit the preference model to the feedback",
         .run = learn_run},

	{"Agents", "provision", "interest_provision", PROVISION,
         "put an agent to work on a repository", .run = provision_run},
	{NULL, "schedule", "interest_update", SCHEDULE, "when the agent of an interest starts",
         .run = schedule_run,
         .help = "What is not given stays as it is; expops interest shows it."},
	{NULL, "pause", "agent_pause", INTEREST, "let nothing start the agent of an interest",
         &VIEW_INTEREST},
	{NULL, "resume", "agent_resume", INTEREST, "end the pause", &VIEW_INTEREST},
	{NULL, "agents", "installations_list", LIMITED, "the agents and their repositories",
         &VIEW_AGENTS},
	{NULL, "run", "fleet_trigger", RUN, "start a run of an agent", .run = agent_run},
	{NULL, "run-status", "fleet_run_status_get", RUN_STATUS, "the newest run of a repository",
         &VIEW_RUN_STATUS},
	{NULL, "runs", "fleet_runs_list", RUNS, "what the agents did", &VIEW_RUNS},
	{NULL, "report", "fleet_report_get", REPORT, "figures, and what stands out", &VIEW_REPORT},
	{NULL, "inbox", "inbox_list", LIMITED, "what waits for people", &VIEW_INBOX},
	{NULL, "inbox dismiss", "inbox_dismiss", INBOX_DISMISS, "archive an item of the inbox",
         .run = inbox_dismiss_run},

	{"Experiments", "experiments", "experiments_list", EXPERIMENTS, "what is tried",
         &VIEW_EXPERIMENTS},
	{NULL, "experiment", "experiment_get", EXPERIMENT, "one experiment", &VIEW_EXPERIMENT},
	{NULL, "experiment add", "experiment_create", EXPERIMENT_ADD, "make an experiment",
         .run = experiment_add_run},
	{NULL, "results", "results_get", EXPERIMENT, "what the results of an experiment say",
         &VIEW_RESULTS},
	{NULL, "results add", "result_create", RESULTS_ADD, "add results from a file of CSV",
         .run = results_add_run,
         .help = "A line is the result of an example, or of a whole run. The first line names the "
                 "columns: arm; for "
                 "examples example, sample and group; and the metrics of the plan by their keys."},
	{NULL, "context", "implement_context_get", EXPERIMENT, "the brief for a coding agent",
         &VIEW_CONTEXT},
	{NULL, "implement", "implement_run", IMPLEMENT, "let an agent implement an experiment",
         .run = implement_run},

	{"Evaluations", "eval templates", "templates_list", LIMITED, "what can be evaluated",
         &VIEW_TEMPLATES},
	{NULL, "eval runs", "eval_runs_list", EVAL_RUNS, "the runs", &VIEW_EVAL_RUNS},
	{NULL, "eval run", "eval_run_create", EVAL_RUN, "run a template", .run = eval_run},
	{NULL, "eval show", "eval_run_get", EVAL_SHOW, "one run, with the end of its log",
         .run = eval_show},
	{NULL, "eval cancel", "eval_run_cancel", EVAL_CANCEL, "cancel a run", &VIEW_EVAL_RUN,
         removal_run},
	{NULL, "eval build", "build_create", EVAL_BUILD, "build an image", .run = eval_build},

	{"Keys and tasks", "keys", "api_keys_list", LIMITED, "the keys of the account", &VIEW_KEYS},
	{NULL, "key add", "api_key_create", KEY_ADD, "make a key, which is shown once",
         &VIEW_KEY_CREATED},
	{NULL, "key edit", "api_key_update", KEY_EDIT,
         "rename a key, change what it may do or when it ends", &VIEW_KEY_CREATED},
	{NULL, "key revoke", "api_key_revoke", KEY_REVOKE, "revoke a key", &VIEW_KEY_CREATED,
         removal_run},
	{NULL, "task", NULL, TASK, "the state of work that takes longer", .run = task_run},

	{"Everything else", "api", NULL, API, "call any operation by its id", .run = api_run,
         .help = "Without an operation, they are listed; with one, --help lists its fields. Values "
                 "become JSON by "
                 "the type of the field; a list is given item by item, or as JSON."},
	{NULL, "help", NULL, HELP, "describe a command", .run = help_run},
	{NULL, "completion", NULL, COMPLETION, "the completion for a shell", .run = completion_run,
         .help = "As in: eval \"$(expops completion bash)\"; expops completion fish | source."},
	{NULL, "complete", NULL, COMPLETE, NULL, .run = complete_run},
	{NULL, "manual", NULL, NULL, NULL, .run = manual_run},
	{0},
};
