/* `svc-integrations deliveries`: prints JSON, a line for each delivery, newest first. */
#include "base/terminal.h"
#include "delivery.sql.h"
#include "main/arguments.h"
#include "main/command_run.h"
#include "pg/pg.h"
#include "provider/provider.h"
#include "webhook/delivery.h"

#include <stdio.h>
#include <string.h>

#define LIMIT_DEFAULT 50
#define LIMIT_MAX     10000

struct arguments {
	const char *status, *repo; /* NULL: any */
	int64_t limit;
	char **ids; /* NULL-terminated */
};

static const struct argument ARGUMENTS[] = {
	ARGUMENT_TEXT(struct arguments, status, "status"),
	ARGUMENT_TEXT(struct arguments, repo, "repo"),
	ARGUMENT_NUMBER(struct arguments, limit, "limit", LIMIT_MAX),
	ARGUMENT_END,
};

static void print_json(const char *json)
{
	terminal_print(stdout, json, strlen(json));
	putchar('\n');
}

static void list(struct request *rq)
{
	const struct arguments *arguments = rq->user;
	struct pg_rows *rows = pg_query(rq, DELIVERY_LIST_SQL, pg_text(arguments->status),
	                                pg_text(arguments->repo), pg_int(arguments->limit));
	for (int row = 0; row < rows->count; row++)
		print_json(pg_value(rows, row));
}

static struct pg_rows *get(struct request *rq, const char *id)
{
	struct pg_rows *rows = pg_query(rq, DELIVERY_GET_SQL, pg_text(id));
	if (pg_empty(rows))
		raise_error(rq, ERR_NOT_FOUND, "no delivery has the id \"%s\"", id);
	return rows;
}

static void show(struct request *rq)
{
	const struct arguments *arguments = rq->user;
	for (char **id = arguments->ids; *id; id++) {
		struct pg_rows *rows = get(rq, *id);
		size_t length;
		const char *body = pg_get_bytes(rq->arena, rows, 0, "body", &length);
		print_json(pg_get(rows, 0, "json"));
		terminal_print(stdout, body, length);
		putchar('\n');
	}
}

static void replay_one(struct request *rq, const char *id)
{
	struct pg_rows *rows = get(rq, id);
	size_t length;
	const char *body = pg_get_bytes(rq->arena, rows, 0, "body", &length);
	struct code_host_events events =
		code_host_events_read(rq->arena, pg_get(rows, 0, "event"), id, body, length);
	rows = pg_query(rq, DELIVERY_REPLAY_SQL, pg_text(id), pg_text(events.action),
	                pg_text(events.repo), pg_int(events.installation), pg_text(events.ignored),
	                pg_text(events.json), pg_bool(events.is_installation_changed),
	                pg_text(events.changed_repos), pg_text(events.repositories),
	                pg_text(code_host_web_url()));
	if (events.ignored)
		printf("%s: ignored: %s\n", id, terminal_text(rq->arena, events.ignored));
	else
		printf("%s: applied, %lld events sent\n", id, (long long)pg_value_int(rows, 0));
}

static void replay(struct request *rq)
{
	const struct arguments *arguments = rq->user;
	for (char **id = arguments->ids; *id; id++)
		replay_one(rq, *id);
}

static const struct {
	const char *name;
	request_fn *run;
	bool has_ids;
} ACTIONS[] = {
	{"list", list, false},
	{"show", show, true},
	{"replay", replay, true},
};

/* The action that the arguments name; NULL: they are wrong. */
static request_fn *read_arguments(int argc, char **argv, struct arguments *arguments)
{
	char **operands = arguments_read(argc, argv, ARGUMENTS, arguments);
	if (!operands || !operands[0])
		return NULL;
	arguments->ids = operands + 1;
	for (size_t i = 0; i < ARRAY_LEN(ACTIONS); i++)
		if (strcmp(ACTIONS[i].name, operands[0]) == 0)
			return ACTIONS[i].has_ids == (arguments->ids[0] != NULL) ? ACTIONS[i].run
			                                                         : NULL;
	return NULL;
}

int delivery_command(struct process *process, int argc, char **argv)
{
	struct arguments arguments = {.limit = LIMIT_DEFAULT};
	request_fn *run = read_arguments(argc, argv, &arguments);
	return run ? command_run(process, run, &arguments) : COMMAND_USAGE;
}
