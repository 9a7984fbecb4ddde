#include "command/work.h"

#include "base/terminal.h"
#include "call/follow.h"
#include "call/pages.h"
#include "command/repository.h"
#include "json/json.h"
#include "program/file.h"
#include "show/views.h"

#include <stdio.h>
#include <string.h>

/* The text of a member that must be there for the next request. */
static const char *required_text(const struct answer *answer, const char *name)
{
	const char *text = json_get_text(answer->json, name);
	if (!text)
		cli_fail(EXIT_FAILED, "the answer has no %s", name);
	return text;
}

/* Work that was started or found: how it is asked for and shown. */
struct work {
	const struct followed *followed;
	struct query *query; /* asks for its state */
	const struct view *view;
	const struct subject *subject; /* as of follow() */
	const char *again;             /* the command that follows it or shows its state */
};

/* Wait for its end and show it. */
static void show_end(struct cli *cli, const struct work *work)
{
	struct answer *answer = follow(work->query, work->followed, work->subject, work->again);
	view_show(cli, work->view, answer);
	follow_require_success(cli, work->followed, answer);
}

/* Show what was started, and to people how to follow it; or with -w what became of it. */
static void show_work(struct cli *cli, const struct arguments *arguments, const struct work *work,
                      const struct view *started_view, const struct answer *started)
{
	if (argument(arguments, "--wait")) {
		show_end(cli, work);
		return;
	}
	view_show(cli, started_view, started);
	if (cli->form == FORM_TEXT && cli->screen.is_terminal)
		printf("\n%s %s\n", cli_shown(cli, work->again), follow_verb(work->again));
}

/* A task, whose state an operation shows by the task's id and, unless `parent` is NULL, a second
 * one. */
static void show_task_work(struct cli *cli, const struct arguments *arguments,
                           const struct answer *started, struct work work, const char *parent,
                           const char *parent_id)
{
	const char *id = required_text(started, "task_id");
	work.query = query_new(cli, work.followed->operation);
	work.again = arena_printf(cli->arena, "expops task %s -w", id);
	query_set(work.query, "task_id", id);
	if (parent)
		query_set(work.query, parent, parent_id);
	show_work(cli, arguments, &work, work.view, started);
}

void refresh_run(struct cli *cli, const struct arguments *arguments)
{
	struct answer *started = call(command_query(cli, arguments));
	show_task_work(cli, arguments, started,
	               (struct work){&FOLLOWED_REFRESH, .view = &VIEW_TASK}, NULL, NULL);
}

void learn_run(struct cli *cli, const struct arguments *arguments)
{
	struct query *query = query_new(cli, "interest_get");
	query_set(query, "interest_id",
	          reference_id(cli, REFERENCE_INTEREST, argument(arguments, "INTEREST")));
	const char *history = required_text(call(query), "experiment_history_id");
	struct query *start = command_query(cli, arguments);
	query_set(start, "history_id", history);
	show_task_work(cli, arguments, call(start),
	               (struct work){&FOLLOWED_REFIT, .view = &VIEW_TASK}, "history_id", history);
}

void provision_run(struct cli *cli, const struct arguments *arguments)
{
	const char *interest =
		reference_id(cli, REFERENCE_INTEREST, argument(arguments, "INTEREST"));
	const char *repo = argument(arguments, "--repo");
	struct query *query = command_query(cli, arguments);
	query_set(query, "interest_id", interest);
	query_set(query, "repo", repo ? repository_name(cli, repo) : NULL);
	show_task_work(cli, arguments, call(query),
	               (struct work){&FOLLOWED_PROVISION, .view = &VIEW_PROVISIONING},
	               "interest_id", interest);
}

void implement_run(struct cli *cli, const struct arguments *arguments)
{
	const char *experiment =
		reference_id(cli, REFERENCE_EXPERIMENT, argument(arguments, "EXPERIMENT"));
	struct query *start = command_query(cli, arguments),
		     *query = query_new(cli, FOLLOWED_IMPLEMENT.operation);
	query_set(start, "experiment_id", experiment);
	query_set(query, "experiment_id", experiment);
	const struct work work = {&FOLLOWED_IMPLEMENT, query, &VIEW_PIPELINE,
	                          .again = arena_printf(cli->arena, "expops experiment %s",
	                                                experiment)};
	show_work(cli, arguments, &work, &VIEW_TASK, call(start));
}

/* The id of a run of a workflow; NULL: it is not known. */
static const char *run_id_of(struct cli *cli, const struct answer *started)
{
	yyjson_val *id = json_get(started->json, "run_id");
	if (yyjson_is_str(id))
		return yyjson_get_str(id);
	return yyjson_is_int(id) ? json_write(cli->arena, id, NULL) : NULL;
}

/* The state that is asked for is that of the newest run of the repository, which can be another
 * one. */
static struct subject run_subject(struct cli *cli, const char *repo, const char *id)
{
	struct query *by_id = query_new(cli, "fleet_runs_list");
	query_set(by_id, "repo", repo);
	query_set(by_id, "run_id", id);
	return (struct subject){"/run_id", id, by_id};
}

void agent_run(struct cli *cli, const struct arguments *arguments)
{
	const char *repo = repository_name(cli, argument(arguments, "REPO"));
	struct query *start = command_query(cli, arguments),
		     *query = query_new(cli, FOLLOWED_AGENT_RUN.operation);
	query_set(start, "repo", repo);
	query_set(query, "repo", repo);
	struct answer *started = call(start);
	const char *id = run_id_of(cli, started);
	const struct subject subject = run_subject(cli, repo, id);
	const struct work work = {&FOLLOWED_AGENT_RUN, query, &VIEW_RUN_STATUS, &subject,
	                          arena_printf(cli->arena, "expops run-status %s", repo)};
	if (!id && argument(arguments, "--wait")) {
		view_show(cli, &VIEW_RUN_STARTED, started);
		cli_fail(EXIT_NOT_FOLLOWED,
		         "the run has started, and the code host did not say which one it is; %s "
		         "shows the newest",
		         work.again);
	}
	show_work(cli, arguments, &work, &VIEW_RUN_STARTED, started);
}

/* ---- evaluations ---- */

/* NAME=VALUE as a member of the parameters: JSON, or a text. */
static void add_param(struct cli *cli, yyjson_mut_doc *doc, yyjson_mut_val *params,
                      const char *word)
{
	const char *equals = strchr(word, '=');
	yyjson_val *value;
	if (!equals || equals == word)
		cli_fail(EXIT_USAGE, "%s is not NAME=VALUE", word);
	yyjson_mut_val *name = yyjson_mut_strncpy(doc, word, (size_t)(equals - word));
	bool is_json = !json_parse(cli->arena, equals + 1, strlen(equals + 1), &value, NULL);
	yyjson_mut_obj_put(params, name,
	                   is_json ? yyjson_val_mut_copy(doc, value)
	                           : yyjson_mut_strcpy(doc, equals + 1));
}

void eval_run(struct cli *cli, const struct arguments *arguments)
{
	struct query *start = command_query(cli, arguments),
		     *query = query_new(cli, FOLLOWED_EVAL_RUN.operation);
	yyjson_mut_doc *doc = json_doc_new(cli->arena);
	yyjson_mut_val *params = yyjson_mut_obj(doc);
	for (size_t i = 0; i < arguments->rest_count; i++)
		add_param(cli, doc, params, arguments->rest[i]);
	query_set_json(start, "params",
	               json_parse_own(cli->arena, json_write_mut(cli->arena, params, NULL)));
	struct answer *started = call(start);
	const char *id = required_text(started, "run_id");
	query_set(query, "run_id", id);
	const struct work work = {&FOLLOWED_EVAL_RUN, query, &VIEW_EVAL_RUN,
	                          .again = arena_printf(cli->arena, "expops eval show %s -w", id)};
	show_work(cli, arguments, &work, work.view, started);
}

void eval_build(struct cli *cli, const struct arguments *arguments)
{
	struct query *start = command_query(cli, arguments),
		     *query = query_new(cli, FOLLOWED_BUILD.operation);
	const char *repo = argument(arguments, "--repo"), *path = argument(arguments, "--file");
	size_t length;
	const char *content = path ? file_read_text(cli, path, &length) : NULL;
	query_set(start, "repo", repo ? repository_name(cli, repo) : NULL);
	query_set(start, "containerfile", content);
	struct answer *started = call(start);
	const char *id = required_text(started, "build_id");
	query_set(query, "build_id", id);
	const struct work work = {&FOLLOWED_BUILD, query, &VIEW_BUILD,
	                          .again = arena_printf(cli->arena,
	                                                "expops api build_get build_id=%s", id)};
	show_work(cli, arguments, &work, work.view, started);
}

static void print_log(const char *log)
{
	putchar('\n');
	terminal_print(stdout, log, strlen(log));
}

/* The record of a run, and the end of its log. */
void eval_show(struct cli *cli, const struct arguments *arguments)
{
	struct query *query = command_query(cli, arguments);
	const char *again =
		arena_printf(cli->arena, "expops eval show %s -w", argument(arguments, "RUN"));
	struct answer *answer = argument(arguments, "--wait")
	                                ? follow(query, &FOLLOWED_EVAL_RUN, NULL, again)
	                                : call(query);
	const char *log = json_get_text(answer->json, "log_tail");
	view_show(cli, &VIEW_EVAL_RUN, answer);
	if (cli->form == FORM_TEXT && log && *log)
		print_log(log);
	if (argument(arguments, "--wait"))
		follow_require_success(cli, &FOLLOWED_EVAL_RUN, answer);
}

/* ---- tasks ---- */

/* Where tasks are found: an operation by the task's id, some also by that of an interest or its
 * history. */
static const struct home {
	const struct followed *followed;
	const char *parent;        /* the second field; NULL: none */
	const char *parent_member; /* of an interest */
	const struct view *view;
} HOMES[] = {
	{&FOLLOWED_REFRESH, NULL, NULL, &VIEW_TASK},
	{&FOLLOWED_PROVISION, "interest_id", "id", &VIEW_PROVISIONING},
	{&FOLLOWED_REFIT, "history_id", "experiment_history_id", &VIEW_TASK},
};

static struct query *task_query(struct cli *cli, const struct home *home, yyjson_val *interest,
                                const char *id)
{
	struct query *query = query_new(cli, home->followed->operation);
	query_set(query, "task_id", id);
	if (home->parent)
		query_set(query, home->parent, json_get_text(interest, home->parent_member));
	return query;
}

/* Whether the task is there. */
static struct answer *find_task(struct query *query)
{
	struct answer *answer = call_try(query);
	if (answer->status != 200 && answer->status != 404 && answer->status != 400)
		call_fail(query->cli, answer);
	return answer->status == 200 ? answer : NULL;
}

static void show_task(struct cli *cli, const struct arguments *arguments, const struct home *home,
                      struct query *query, const struct answer *found)
{
	const struct work work = {home->followed, query, home->view,
	                          .again = arena_printf(cli->arena, "expops task %s -w",
	                                                argument(arguments, "ID"))};
	show_work(cli, arguments, &work, home->view, found);
}

/* Look for the task in one kind of place. True: it was found, and shown. */
static bool look_in(struct cli *cli, const struct arguments *arguments, const struct home *home,
                    yyjson_val *interests)
{
	size_t count = home->parent ? yyjson_arr_size(interests) : 1;
	for (size_t i = 0; i < count; i++) {
		struct query *query = task_query(cli, home, yyjson_arr_get(interests, i),
		                                 argument(arguments, "ID"));
		struct answer *found = find_task(query);
		if (found) {
			show_task(cli, arguments, home, query, found);
			return true;
		}
	}
	return false;
}

void task_run(struct cli *cli, const struct arguments *arguments)
{
	struct query *list = query_new(cli, "interests_list");
	if (look_in(cli, arguments, &HOMES[0], NULL))
		return;
	const struct paging paging = {"limit", VIEW_INTERESTS.items};
	yyjson_val *interests = pages_call(list, &paging, LIST_ITEMS_MAX)->json;
	for (size_t i = 1; i < ARRAY_LEN(HOMES); i++)
		if (look_in(cli, arguments, &HOMES[i], interests))
			return;
	cli_fail(EXIT_NOT_FOUND, "there is no task %s", argument(arguments, "ID"));
}
