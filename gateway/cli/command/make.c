#include "command/make.h"

#include "command/repository.h"
#include "program/file.h"
#include "show/views.h"

#include <stdio.h>
#include <unistd.h>

/* A text from a file or standard input; NULL for none. */
static const char *text_of(struct cli *cli, const char *path)
{
	size_t length;
	const char *text = path ? file_read(cli, path, &length) : NULL;
	if (path && !text)
		cli_fail(EXIT_FAILED, "there is no file %s", path);
	return text;
}

void interest_add_run(struct cli *cli, const struct arguments *arguments)
{
	const char *name = argument(arguments, "NAME"), *repo = argument(arguments, "--repo");
	bool may_exist = name && argument(arguments, "--update");
	const char *id = may_exist ? reference_named(cli, REFERENCE_INTEREST, name) : NULL;
	struct query *query =
		command_query_for(cli, arguments, id ? "interest_update" : "interest_create");
	if (id)
		query_set(query, "interest_id", id);
	query_set(query, "context", text_of(cli, argument(arguments, "--context")));
	query_set(query, "source_repo_url", repo ? repository_url(cli, repo) : NULL);
	view_show(cli, &VIEW_INTEREST, call(query));
}

void experiment_add_run(struct cli *cli, const struct arguments *arguments)
{
	const char *paper = argument(arguments, "--paper");
	struct query *query = command_query(cli, arguments);
	if (paper) {
		query_set(query, "source_type", "arxiv_paper");
		query_set(query, "source_ref", reference_id(cli, REFERENCE_PAPER, paper));
	}
	view_show(cli, &VIEW_EXPERIMENT, call(query));
}

static const struct column DISMISSED[] = {{"Dismissed", "/updated"}, {0}};
static const struct view DISMISSED_VIEW = {.columns = DISMISSED};

void inbox_dismiss_run(struct cli *cli, const struct arguments *arguments)
{
	const char *title = reference_title(cli, argument(arguments, "N"));
	struct answer *answer = call(command_query(cli, arguments));
	if (cli->form == FORM_TEXT && title)
		printf("dismissed: %s\n", title);
	else
		view_show(cli, &DISMISSED_VIEW, answer);
}
