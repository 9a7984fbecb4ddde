#include "evidence/part.h"
#include "json/json.h"

#include <string.h>

#define NAMED_MAX 100 /* that is asked for */

static bool has_node(yyjson_val *part, const char *id)
{
	size_t i, count;
	yyjson_val *node;
	yyjson_arr_foreach (json_get(part, "nodes"), i, count, node) {
		const char *own = json_get_text(node, "id");
		if (own && strcmp(own, id) == 0)
			return true;
	}
	return false;
}

/* Put an id that a part lacks into a list, at most NAMED_MAX of them. */
static void add_lacking(yyjson_mut_doc *doc, yyjson_mut_val *list, yyjson_val *part, const char *id)
{
	if (id && yyjson_mut_arr_size(list) < NAMED_MAX && !has_node(part, id))
		yyjson_mut_arr_add_str(doc, list, id);
}

/* The recommendations that runs name and that are not among those of the papers, so are others or
 * older. */
static yyjson_mut_val *lacking_recommendations(yyjson_mut_doc *doc, const struct part *parts)
{
	size_t i, count;
	yyjson_val *edge;
	yyjson_mut_val *ids = yyjson_mut_arr(doc);
	yyjson_arr_foreach (json_get(parts[PART_FLEET].answer, "edges"), i, count, edge)
		if (strcmp(json_get_text(edge, "kind"), "selected") == 0)
			add_lacking(doc, ids, parts[PART_RECOMMENDATIONS].answer,
			            json_get_text(edge, "to"));
	return ids;
}

/* What runs opened for recommendations and that is not among the work on the papers, since these
 * runs name none. */
static yyjson_mut_val *lacking_links(yyjson_mut_doc *doc, const struct part *parts)
{
	size_t i, count;
	yyjson_val *url;
	yyjson_mut_val *urls = yyjson_mut_arr(doc);
	yyjson_arr_foreach (json_get(parts[PART_RECOMMENDATIONS].answer, "urls"), i, count, url)
		add_lacking(doc, urls, parts[PART_FLEET].answer, yyjson_get_str(url));
	return urls;
}

/* The question of the first round with more of one member; NULL: there is no more to ask for. */
static const char *extended(struct request *rq, yyjson_mut_doc *doc, const char *question,
                            const char *name, yyjson_mut_val *more)
{
	yyjson_mut_val *body = yyjson_val_mut_copy(doc, json_parse_own(rq->arena, question));
	size_t i, count;
	yyjson_mut_val *known;
	if (yyjson_mut_arr_size(more) == 0)
		return NULL;
	yyjson_mut_arr_foreach (yyjson_mut_obj_get(body, name), i, count, known)
		yyjson_mut_arr_add_str(doc, more, yyjson_mut_get_str(known));
	yyjson_mut_obj_remove_key(body, name);
	yyjson_mut_obj_add_val(doc, body, name, more);
	return json_write_mut(rq->arena, body, NULL);
}

/* Take the second answer of a part; where there is none, the first stays, and says that it is not
 * all. */
static void take_second(struct part *part, const struct part *second)
{
	if (second->answer)
		part->answer = second->answer;
	part->missing = second->missing;
}

void parts_ask_again(struct request *rq, struct part parts[PART_COUNT])
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	struct part again[PART_COUNT] = {0};
	if (!parts[PART_FLEET].answer || !parts[PART_RECOMMENDATIONS].answer)
		return;
	again[PART_RECOMMENDATIONS].question =
		extended(rq, doc, parts[PART_RECOMMENDATIONS].question, "recommendation_ids",
	                 lacking_recommendations(doc, parts));
	again[PART_FLEET].question =
		extended(rq, doc, parts[PART_FLEET].question, "urls", lacking_links(doc, parts));
	parts_ask(rq, again);
	for (enum part_name name = 0; name < PART_COUNT; name++)
		if (again[name].question)
			take_second(&parts[name], &again[name]);
}
