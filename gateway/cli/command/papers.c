#include "command/papers.h"

#include "call/pages.h"
#include "json/json.h"
#include "show/views.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* As many as a digest may have at once. */
#define DIGEST_INTERESTS "1000"

/* As many as an interest may have in it. */
#define DIGEST_PAPERS 10

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

static const char *period_of(const struct arguments *arguments)
{
	if (argument(arguments, "--all"))
		return "all";
	return argument(arguments, "--week") ? "week" : "today";
}

static void show_interest(struct cli *cli, const struct arguments *arguments, const char *interest)
{
	const struct paging paging = {"limit", VIEW_RECOMMENDATIONS.items};
	struct query *query = query_new(cli, "recommendations_list");
	query_set(query, "interest_id", reference_id(cli, REFERENCE_INTEREST, interest));
	query_set(query, "period", period_of(arguments));
	view_show(cli, &VIEW_RECOMMENDATIONS,
	          pages_call_text(query, &paging, argument(arguments, "--limit")));
}

void digest_run(struct cli *cli, const struct arguments *arguments)
{
	const char *interest = argument(arguments, "--interest"),
		   *limit = argument(arguments, "--limit");
	if (interest) {
		show_interest(cli, arguments, interest);
		return;
	}
	struct query *query = query_new(cli, "recommendations_digest_get");
	query_set(query, "period", period_of(arguments));
	query_set(query, "limit", limit);
	show_digest(cli, query);
	if (limit && strtoll(limit, NULL, 10) > DIGEST_PAPERS)
		fprintf(stderr,
		        "expops: at most %d of each interest; -i INTEREST shows more of one\n",
		        DIGEST_PAPERS);
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
