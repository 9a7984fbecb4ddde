#include "implementation/paper.h"

#include "client/fetch.h"
#include "client/service_call.h"
#include "http/query.h"
#include "json/json.h"
#include "observe/log.h"

static int64_t search_timeout_ms;

const struct setting PAPER_SETTINGS[] = {
	SETTING_MS(&search_timeout_ms, "SEARCH_TIMEOUT", "3s", 10, 30000,
                   "How long an implementation's context waits for svc-search before it is sent "
                   "without the paper."),
	SETTING_END,
};

static const char *failure_text(enum err_code code, int status)
{
	if (status == 404)
		return "the search index does not contain it";
	if (code == ERR_TIMEOUT)
		return "the search service took too long to answer";
	if (code == ERR_UNAVAILABLE)
		return "the search service is unavailable";
	return "the search service sent an invalid answer";
}

struct paper paper_fetch(struct request *rq, const char *arxiv_id)
{
	const char *path = arena_printf(rq->arena, "/api/v1.0/search/assets/%s",
	                                query_encode(rq->arena, arxiv_id));
	struct paper paper = {.arxiv_id = arxiv_id};
	struct fetch_response *answer = NULL;
	const struct service_call call = {
		.service = API_SEARCH,
		.path = path,
		.timeout_ms = (uint64_t)search_timeout_ms,
	};
	enum err_code code = service_call(rq, &call, &answer);
	int status = code ? 0 : answer->status;
	if (status == 200 && !fetch_json(rq->arena, answer, &paper.asset))
		return paper;
	if (status != 404)
		log_warn("paper not fetched", f_text("arxiv_id", arxiv_id),
		         f_text("error", code ? err_info(code)->slug : NULL),
		         f_int("status", status));
	paper.asset = NULL;
	paper.missing = arena_printf(rq->arena,
	                             "The details and the container of the paper %s could not "
	                             "be fetched: %s.",
	                             arxiv_id, failure_text(code, status));
	return paper;
}
