#include "command/papers.h"

#include "json/json.h"
#include "show/views.h"

#include <inttypes.h>
#include <stdio.h>

/* As many as a digest may have at once. */
#define DIGEST_INTERESTS "1000"

/* What is counted in all is interests, where a view counts the papers that it shows. */
static void show_digest(struct cli *cli, struct query *query)
{
	query_set(query, "limit_interests", DIGEST_INTERESTS);
	struct answer *answer = call(query);
	int64_t interests = (int64_t)yyjson_arr_size(json_get(answer->json, "interests"));
	if (answer->total > interests)
		fprintf(stderr, "expops: %" PRId64 " of %" PRId64 " interests; -i shows one\n",
		        interests, answer->total);
	answer->total = -1;
	view_show(cli, &VIEW_DIGEST, answer);
}

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
	if (interest)
		view_show(cli, &VIEW_RECOMMENDATIONS, call(query));
	else
		show_digest(cli, query);
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
