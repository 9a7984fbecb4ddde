#include "command/make.h"

#include "base/timefmt.h"
#include "command/repository.h"
#include "json/json.h"
#include "product/paper_source.h"
#include "program/file.h"
#include "show/views.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void interest_add_run(struct cli *cli, const struct arguments *arguments)
{
	const char *name = argument(arguments, "NAME"), *repo = argument(arguments, "--repo"),
		   *context = argument(arguments, "--context");
	size_t length;
	bool may_exist = argument(arguments, "--update");
	if (may_exist && !name)
		cli_fail(EXIT_USAGE, "--update needs NAME, which tells the interest to change");
	const char *id = may_exist ? reference_named(cli, REFERENCE_INTEREST, name) : NULL;
	struct query *query =
		command_query_for(cli, arguments, id ? "interest_update" : "interest_create");
	if (id)
		query_set(query, "interest_id", id);
	query_set(query, "context", context ? file_read_text(cli, context, &length) : NULL);
	query_set(query, "source_repo_url", repo ? repository_url(cli, repo) : NULL);
	view_show(cli, &VIEW_INTEREST, call(query));
}

/* Add "hour" and "minute" of `08:30`. */
static void add_time(struct buf *out, const char *at)
{
	struct time_of_day time = time_of_day_split(at);
	if (strchr(at, ' ') || !time_of_day_is_valid(&time))
		cli_fail(EXIT_USAGE, "%s is no time of day, HH:MM", at);
	buf_printf(out, ", \"hour\": %d, \"minute\": %d",
	           (time.time[0] - '0') * 10 + time.time[1] - '0',
	           (time.time[3] - '0') * 10 + time.time[4] - '0');
}

static void add_weekday(struct buf *out, const char *day)
{
	if (strlen(day) != 1 || strspn(day, "1234567") != 1)
		cli_fail(EXIT_USAGE, "%s is no day of the week, 1 to 7", day);
	buf_printf(out, ", \"weekday\": %s", day);
}

static void add_text(struct buf *out, const char *name, const char *text)
{
	buf_printf(out, "\"%s\": ", name);
	json_quote(out, text, strlen(text));
}

void schedule_run(struct cli *cli, const struct arguments *arguments)
{
	const char *at = argument(arguments, "--at"), *day = argument(arguments, "--weekday");
	const char *zone = argument(arguments, "--time-zone");
	struct query *query = command_query(cli, arguments);
	struct buf schedule = {.arena = cli->arena};
	buf_puts(&schedule, "{");
	add_text(&schedule, "every", argument(arguments, "EVERY"));
	if (at)
		add_time(&schedule, at);
	if (day)
		add_weekday(&schedule, day);
	if (zone) {
		buf_puts(&schedule, ", ");
		add_text(&schedule, "time_zone", zone);
	}
	buf_puts(&schedule, "}");
	query_set(query, "schedule", schedule.data);
	view_show(cli, &VIEW_INTEREST, call(query));
}

void experiment_add_run(struct cli *cli, const struct arguments *arguments)
{
	const char *paper = argument(arguments, "--paper");
	struct query *query = command_query(cli, arguments);
	if (paper) {
		const char *id = reference_id(cli, REFERENCE_PAPER, paper);
		query_set(query, "source_type", paper_source_type(id));
		query_set(query, "source_ref", id);
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
