#include "main/dead_command.h"

#include "base/base.h"
#include "base/terminal.h"
#include "main/worker_run.h"
#include "service/service.h"
#include "task/dead.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_DEFAULT 50
#define LIMIT_MAX     10000

struct arguments {
	struct dead_letters which;
	bool is_dry, is_all;
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

static bool read_options(int argc, char **argv, struct arguments *arguments)
{
	static const struct option OPTIONS[] = {
		{"kind", required_argument, NULL, 'k'},
		{"limit", required_argument, NULL, 'l'},
		{"all", no_argument, NULL, 'a'},
		{"dry-run", no_argument, NULL, 'd'},
		{0},
	};
	int option;
	while ((option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1) {
		if (option == '?')
			return false;
		if (option == 'l')
			arguments->which.limit = strtol(optarg, NULL, 10);
		if (option == 'k')
			arguments->which.kind = optarg;
		arguments->is_all |= option == 'a';
		arguments->is_dry |= option == 'd';
	}
	return arguments->which.limit >= 1 && arguments->which.limit <= LIMIT_MAX;
}

/* The action that the arguments name; NULL: they are wrong. */
static request_fn *read_arguments(int argc, char **argv, struct arguments *arguments)
{
	if (!read_options(argc, argv, arguments) || optind >= argc)
		return NULL;
	if (optind + 1 < argc)
		arguments->which.ids = (const char *const *)argv + optind + 1;
	bool has_choice = arguments->which.ids || arguments->which.kind || arguments->is_all;
	for (size_t i = 0; i < ARRAY_LEN(ACTIONS); i++)
		if (strcmp(ACTIONS[i].name, argv[optind]) == 0)
			return has_choice || !ACTIONS[i].needs_choice ? ACTIONS[i].run : NULL;
	return NULL;
}

int dead_command(struct process *process, int argc, char **argv)
{
	const struct service *service = process->service;
	struct arguments arguments = {.which = {.service = service->name, .limit = LIMIT_DEFAULT}};
	request_fn *run = read_arguments(argc, argv, &arguments);
	if (run)
		return command_run(process, run, &arguments);
	fprintf(stderr,
	        "usage: %s dead list [--kind KIND] [--limit N] [ID...]\n"
	        "       %s dead show|retry [--dry-run] [--limit N] --all|--kind KIND|ID...\n",
	        service->name, service->name);
	return 2;
}
