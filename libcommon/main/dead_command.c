#include "main/dead_command.h"

#include "base/base.h"
#include "base/terminal.h"
#include "main/arguments.h"
#include "main/command_run.h"
#include "service/service.h"
#include "task/dead.h"

#include <stdio.h>
#include <string.h>

#define LIMIT_DEFAULT 50
#define LIMIT_MAX     10000

struct arguments {
	struct dead_letters which;
	bool is_dry, is_all;
};

static const struct argument ARGUMENTS[] = {
	ARGUMENT_TEXT(struct arguments, which.kind, "kind"),
	ARGUMENT_NUMBER(struct arguments, which.limit, "limit", LIMIT_MAX),
	ARGUMENT_FLAG(struct arguments, is_all, "all"),
	ARGUMENT_FLAG(struct arguments, is_dry, "dry-run"),
	ARGUMENT_END,
};

static void print_json(struct request *rq, void *user, const char *id, const char *kind,
                       const char *json)
{
	(void)rq, (void)user, (void)id, (void)kind;
	terminal_print(stdout, json, strlen(json));
	putchar('\n');
}

static void print_retried(struct request *rq, void *user, const char *id, const char *kind,
                          const char *json)
{
	(void)user, (void)json;
	printf("%s %s: queued again\n", id, terminal_text(rq->arena, kind));
}

static void print_planned(struct request *rq, void *user, const char *id, const char *kind,
                          const char *json)
{
	(void)user, (void)json;
	printf("%s %s: would be queued again\n", id, terminal_text(rq->arena, kind));
}

static void list(struct request *rq)
{
	const struct arguments *arguments = rq->user;
	dead_letters_each(rq, &arguments->which, false, print_json, NULL);
}

static void show(struct request *rq)
{
	const struct arguments *arguments = rq->user;
	dead_letters_each(rq, &arguments->which, true, print_json, NULL);
}

static void retry(struct request *rq)
{
	const struct arguments *arguments = rq->user;
	if (arguments->is_dry)
		dead_letters_each(rq, &arguments->which, false, print_planned, NULL);
	else
		dead_letters_retry(rq, &arguments->which, print_retried, NULL);
}

static const struct {
	const char *name;
	request_fn *run;
	bool needs_choice; /* by ids, kind or --all */
} ACTIONS[] = {
	{"list", list, false},
	{"show", show, true},
	{"retry", retry, true},
};

/* The action that the arguments name; NULL: they are wrong. */
static request_fn *read_arguments(int argc, char **argv, struct arguments *arguments)
{
	char **operands = arguments_read(argc, argv, ARGUMENTS, arguments);
	if (!operands || !operands[0])
		return NULL;
	if (operands[1])
		arguments->which.ids = (const char *const *)operands + 1;
	bool has_choice = arguments->which.ids || arguments->which.kind || arguments->is_all;
	for (size_t i = 0; i < ARRAY_LEN(ACTIONS); i++)
		if (strcmp(ACTIONS[i].name, operands[0]) == 0)
			return has_choice || !ACTIONS[i].needs_choice ? ACTIONS[i].run : NULL;
	return NULL;
}

int dead_command(struct process *process, int argc, char **argv)
{
	const struct service *service = process->service;
	struct arguments arguments = {.which = {.service = service->name, .limit = LIMIT_DEFAULT}};
	request_fn *run = read_arguments(argc, argv, &arguments);
	return run ? command_run(process, run, &arguments) : COMMAND_USAGE;
}
