#include "evidence/part.h"

#include "client/service_ask.h"
#include "json/json.h"
#include "loop/wait.h"
#include "reply/resource.h"

#include <string.h>

#define PAPERS_MAX   100
#define PAPER_PREFIX "paper:"

/* The limit of a key that narrows a part. A key with another limit alone may not see the part, as
 * it may not see the lists of its service. */
enum limit { LIMIT_NONE, LIMIT_INTEREST, LIMIT_REPO };

static const struct part_info {
	const char *name;
	enum internal_id op;
	enum scope_bit scope; /* SCOPE_COUNT: none beside that of the operation */
	enum limit limit;
} PARTS[PART_COUNT] = {
	[PART_RECOMMENDATIONS] = {"recommendations", INTERNAL_ID_interest_evidence_get,
                                  SCOPE_BIT_RECOMMENDATIONS_READ, LIMIT_INTEREST},
	[PART_FLEET] = {"fleet", INTERNAL_ID_fleet_evidence_get, SCOPE_BIT_FLEET_READ, LIMIT_REPO},
	[PART_EVALUATIONS] = {"evaluations", INTERNAL_ID_eval_evidence_get, SCOPE_BIT_EVAL_READ,
                              LIMIT_REPO},
	[PART_PAPERS] = {"papers", INTERNAL_ID_assets_lookup, SCOPE_COUNT, LIMIT_NONE},
	[PART_EXPERIMENTS] = {.name = "experiments"},
};

static bool is_closed(const struct identity *key, enum limit limit)
{
	if (limit == LIMIT_INTEREST)
		return key->repo && !key->interest;
	return limit == LIMIT_REPO && key->interest && !key->repo;
}

/* Why the caller may not see the part; NULL: it may. */
static const char *refusal(const struct request *rq, const struct part_info *info)
{
	if (info->scope != SCOPE_COUNT && !caller_has_scope(rq, info->scope))
		return "scope";
	return is_closed(&rq->caller, info->limit) ? "key_limit" : NULL;
}

/* The question with the limit of the key. */
static const char *limited(struct request *rq, const struct part_info *info, const char *question)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_val_mut_copy(doc, json_parse_own(rq->arena, question));
	if (info->limit == LIMIT_INTEREST && rq->caller.interest)
		yyjson_mut_obj_add_str(doc, body, "interest_id", rq->caller.interest);
	if (info->limit == LIMIT_REPO && rq->caller.repo)
		yyjson_mut_obj_add_str(doc, body, "repo", rq->caller.repo);
	return json_write_mut(rq->arena, body, NULL);
}

/* One part that is asked for, in the arena of the request that asks. */
struct asking {
	struct part *part;
	const struct part_info *info;
	const char *body;
	struct arena *arena;
};

static void ask_one(struct request *rq)
{
	const struct asking *asking = rq->user;
	struct service_answer answer =
		service_ask_try(rq, asking->info->op, asking->body,
	                        &(struct ask_options){.timeout_ms = PART_TIMEOUT_MS});
	if (answer.code)
		asking->part->missing = answer.code == ERR_TIMEOUT ? "timeout" : "unavailable";
	else /* the arena of this fiber ends with it */
		asking->part->answer =
			json_parse_own(asking->arena, json_write(asking->arena, answer.json, NULL));
}

static void begin(struct request *rq, enum part_name name, struct part *part)
{
	const struct part_info *info = &PARTS[name];
	part->missing = refusal(rq, info);
	if (part->missing)
		return;
	struct asking *asking = arena_new_of(rq->arena, struct asking);
	*asking = (struct asking){part, info, limited(rq, info, part->question), rq->arena};
	fiber_spawn(rq, ask_one, asking);
}

void parts_ask(struct request *rq, struct part parts[PART_COUNT])
{
	bool is_any = false;
	for (enum part_name name = 0; name < PART_COUNT; name++) {
		if (!parts[name].question)
			continue;
		begin(rq, name, &parts[name]);
		is_any = is_any || !parts[name].missing;
	}
	if (is_any)
		fiber_join(rq);
}

/* --- Papers ----------------------------------------------------------------------------------- */

/* The papers that edges name, each once; those that are named first come first. */
static const char **named_papers(const struct graph *graph, size_t *ret_count)
{
	const char **named = arena_array(graph->arena, graph->edge_count, sizeof(char *));
	size_t count = 0;
	for (size_t i = 0; i < graph->edge_count; i++) {
		const char *to = graph->edges[i].to;
		size_t known = 0;
		if (strncmp(to, PAPER_PREFIX, strlen(PAPER_PREFIX)) != 0)
			continue;
		while (known < count && strcmp(named[known], to) != 0)
			known++;
		if (known == count)
			named[count++] = to;
	}
	*ret_count = count;
	return named;
}

static const char *lookup_question(struct request *rq, const char **named, size_t count)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_val *ids = yyjson_mut_obj_add_arr(doc, body, "arxiv_ids");
	for (size_t i = 0; i < count && i < PAPERS_MAX; i++)
		yyjson_mut_arr_add_str(doc, ids, named[i] + strlen(PAPER_PREFIX));
	return json_write_mut(rq->arena, body, NULL);
}

static yyjson_val *find_paper(yyjson_val *results, const char *id)
{
	size_t i, count;
	yyjson_val *paper;
	yyjson_arr_foreach (results, i, count, paper) {
		const char *known = json_get_text(paper, "arxiv_id");
		if (known && strcmp(known, id) == 0)
			return paper;
	}
	return NULL;
}

/* What a node says of a paper: all but its id is null where search does not know it. */
static yyjson_mut_val *paper_data(yyjson_mut_doc *doc, const char *id, yyjson_val *paper)
{
	static const char *const SHOWN[] = {"title", "categories", "license", "has_container"};
	yyjson_mut_val *data = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, data, "arxiv_id", id);
	for (size_t i = 0; i < ARRAY_LEN(SHOWN); i++)
		json_add_member(doc, data, SHOWN[i], paper, SHOWN[i]);
	return data;
}

void parts_add_papers(struct request *rq, struct graph *graph, struct part *papers)
{
	size_t count;
	const char **named = named_papers(graph, &count);
	struct part parts[PART_COUNT] = {0};
	if (count > 0)
		parts[PART_PAPERS].question = lookup_question(rq, named, count);
	parts_ask(rq, parts);
	*papers = parts[PART_PAPERS];
	graph->is_truncated = graph->is_truncated || count > PAPERS_MAX;
	for (size_t i = 0; i < count; i++) {
		const char *id = named[i] + strlen(PAPER_PREFIX);
		yyjson_val *known = find_paper(json_get(papers->answer, "results"), id);
		graph_add_node(graph, named[i], "paper", paper_data(graph->doc, id, known));
	}
}

/* --- What is missing -------------------------------------------------------------------------- */

yyjson_mut_val *parts_missing(yyjson_mut_doc *doc, const struct part parts[PART_COUNT])
{
	yyjson_mut_val *missing = yyjson_mut_arr(doc);
	for (enum part_name name = 0; name < PART_COUNT; name++) {
		if (!parts[name].missing)
			continue;
		yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, missing);
		yyjson_mut_obj_add_str(doc, row, "part", PARTS[name].name);
		yyjson_mut_obj_add_str(doc, row, "why", parts[name].missing);
	}
	return missing;
}

bool parts_are_unanswered(const struct part parts[PART_COUNT])
{
	for (enum part_name name = 0; name < PART_COUNT; name++) {
		const char *why = parts[name].missing;
		if (why && (strcmp(why, "timeout") == 0 || strcmp(why, "unavailable") == 0))
			return true;
	}
	return false;
}

int64_t parts_hidden(const struct part parts[PART_COUNT])
{
	int64_t hidden = 0;
	for (enum part_name name = 0; name < PART_COUNT; name++)
		hidden += json_get_int(parts[name].answer, "hidden", 0);
	return hidden;
}
