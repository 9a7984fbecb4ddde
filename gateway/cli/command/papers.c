#include "command/papers.h"

#include "json/json.h"
#include "show/views.h"

#include <stdio.h>

void digest_run(struct cli *cli, const struct arguments *arguments)
{
	const char *interest = argument(arguments, "--interest");
	const char *period = argument(arguments, "--all")    ? "all"
	                     : argument(arguments, "--week") ? "week"
	                                                     : "today";
	struct query *query =
		query_new(cli, interest ? "recommendations_list" : "recommendations_digest_get");
	if (interest)
		query_set(query, "interest_id", reference_id(cli, REFERENCE_INTEREST, interest));
	query_set(query, "period", period);
	query_set(query, "limit", argument(arguments, "--limit"));
	view_show(cli, interest ? &VIEW_RECOMMENDATIONS : &VIEW_DIGEST, call(query));
}

static const struct column FEEDBACK[] = {{"Signal", "/signal"},
                                         {"Recommendation", "/recommendation_id"},
                                         {0}};
static const struct view FEEDBACK_VIEW = {.columns = FEEDBACK};

void feedback_run(struct cli *cli, const struct arguments *arguments)
{
	const char *title = reference_title(cli, argument(arguments, "N"));
	struct query *query = command_query(cli, arguments);
	query_set(query, "signal", arguments->command->name);
	struct answer *answer = call(query);
	if (cli->form == FORM_TEXT && title)
		printf("%s: %s\n", arguments->command->name, title);
	else
		view_show(cli, &FEEDBACK_VIEW, answer);
}
