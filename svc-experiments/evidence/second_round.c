#include "evidence/part.h"
#include "json/json.h"

#include <string.h>

#define NAMED_MAX 100 /* that are asked for */

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

static bool is_listed(yyjson_mut_val *list, const char *id)
{
	size_t i, count;
	yyjson_mut_val *item;
	yyjson_mut_arr_foreach (list, i, count, item)
		if (strcmp(yyjson_mut_get_str(item), id) == 0)
			return true;
	return false;
}

/* What the second round asks a part for: each id once. */
struct lacking {
	yyjson_val *part;
	yyjson_mut_doc *doc;
	yyjson_mut_val *ids;
	bool is_cut; /* there are more */
};

static struct lacking lacking_new(yyjson_mut_doc *doc, const struct part *part)
{
	return (struct lacking){.part = part->answer, .doc = doc, .ids = yyjson_mut_arr(doc)};
}

static void add_lacking(struct lacking *lacking, const char *id)
{
	if (!id || has_node(lacking->part, id) || is_listed(lacking->ids, id))
		return;
	if (yyjson_mut_arr_size(lacking->ids) < NAMED_MAX)
		yyjson_mut_arr_add_str(lacking->doc, lacking->ids, id);
	else
		lacking->is_cut = true;
}

/* The recommendations that runs name and that are not among those of the papers, so are others or
 * older. */
static struct lacking lacking_recommendations(yyjson_mut_doc *doc, const struct part *parts)
{
	size_t i, count;
	yyjson_val *edge;
	struct lacking lacking = lacking_new(doc, &parts[PART_RECOMMENDATIONS]);
	yyjson_arr_foreach (json_get(parts[PART_FLEET].answer, "edges"), i, count, edge) {
		const char *kind = json_get_text(edge, "kind");
		if (kind && strcmp(kind, "selected") == 0)
			add_lacking(&lacking, json_get_text(edge, "to"));
	}
	return lacking;
}

/* What runs opened for recommendations and that is not among the work on the papers, since these
 * runs name none. */
static struct lacking lacking_links(yyjson_mut_doc *doc, const struct part *parts)
{
	size_t i, count;
	yyjson_val *url;
	struct lacking lacking = lacking_new(doc, &parts[PART_FLEET]);
	yyjson_arr_foreach (json_get(parts[PART_RECOMMENDATIONS].answer, "urls"), i, count, url)
		add_lacking(&lacking, yyjson_get_str(url));
	return lacking;
}

/* Ask a part for what it lacks: the question of the first round with more of one member. None where
 * there is no more to ask for. */
static struct part extended(struct request *rq, const struct part *first, const char *name,
                            struct lacking lacking)
{
	struct part again = {.is_cut = lacking.is_cut};
	yyjson_mut_doc *doc = lacking.doc;
	yyjson_mut_val *body = yyjson_val_mut_copy(doc, json_parse_own(rq->arena, first->question));
	yyjson_mut_val *ids = yyjson_mut_val_mut_copy(doc, lacking.ids);
	size_t i, count;
	yyjson_mut_val *known;
	if (yyjson_mut_arr_size(ids) == 0)
		return again;
	yyjson_mut_arr_foreach (yyjson_mut_obj_get(body, name), i, count, known)
		yyjson_mut_arr_add_str(doc, ids, yyjson_mut_get_str(known));
	yyjson_mut_obj_remove_key(body, name);
	yyjson_mut_obj_add_val(doc, body, name, ids);
	again.question = json_write_mut(rq->arena, body, NULL);
	again.named = lacking.ids;
	return again;
}

/* Take the second answer of a part; where there is none, the first stays, and says that it is not
 * all. */
static void take_second(struct part *part, const struct part *second)
{
	part->is_cut = second->is_cut;
	part->missing = second->missing;
	if (!second->answer)
		return;
	part->answer = second->answer;
	part->named = second->named;
}

static void ask_second(struct request *rq, struct part parts[PART_COUNT], bool with_recommendations)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	struct part again[PART_COUNT] = {0};
	struct part *fleet = &parts[PART_FLEET], *recommendations = &parts[PART_RECOMMENDATIONS];
	if (!fleet->answer || !recommendations->answer)
		return;
	if (with_recommendations)
		again[PART_RECOMMENDATIONS] = extended(rq, recommendations, "recommendation_ids",
		                                       lacking_recommendations(doc, parts));
	again[PART_FLEET] = extended(rq, fleet, "urls", lacking_links(doc, parts));
	parts_ask(rq, again);
	for (enum part_name name = 0; name < PART_COUNT; name++)
		if (again[name].question)
			take_second(&parts[name], &again[name]);
}

void parts_ask_again(struct request *rq, struct part parts[PART_COUNT])
{
	ask_second(rq, parts, true);
}

void parts_ask_links(struct request *rq, struct part parts[PART_COUNT])
{
	ask_second(rq, parts, false);
}

bool part_was_asked_for(const struct part *part, const char *id)
{
	return is_listed(part->named, id);
}
