#include "api/facets.h"

#include "base/timefmt.h"
#include "engine/text/intern.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

#define DAY_MS      INT64_C(86400000)
#define YEAR_DIGITS 4
#define VALUES_STEP 64

struct facet_value {
	const char *name;
	uint32_t papers;
};

/* The values of one property, with the papers that have each. */
struct facet {
	struct intern names;
	struct facet_value *values; /* in the order of `names` */
	size_t capacity;
};

static void count(struct request *rq, struct facet *facet, const char *name, size_t length)
{
	uint32_t number = intern_add(&facet->names, name, length);
	if (number == facet->capacity) {
		size_t before = facet->capacity * sizeof(*facet->values);
		facet->capacity += VALUES_STEP;
		facet->values = arena_grow(rq->arena, facet->values, before,
		                           facet->capacity * sizeof(*facet->values));
	}
	if (!facet->values[number].name)
		facet->values[number].name = arena_strndup(rq->arena, name, length);
	facet->values[number].papers++;
}

static int compare_values(const void *a, const void *b)
{
	const struct facet_value *left = a, *right = b;
	if (left->papers != right->papers)
		return left->papers > right->papers ? -1 : 1;
	return strcmp(left->name, right->name);
}

static void add_facet(yyjson_mut_doc *doc, yyjson_mut_val *root, const char *name,
                      struct facet *facet)
{
	yyjson_mut_val *object = yyjson_mut_obj_add_obj(doc, root, name);
	size_t values = facet->names.count;
	if (values > 0)
		qsort(facet->values, values, sizeof(*facet->values), compare_values);
	for (size_t i = 0; i < values; i++)
		yyjson_mut_obj_add_uint(doc, object, facet->values[i].name,
		                        facet->values[i].papers);
	intern_done(&facet->names);
}

static void count_categories(struct request *rq, struct facet *facet,
                             const struct search_hits *hits, const char *id)
{
	const char *names[DOCUMENT_MAX_CATEGORIES];
	size_t categories = engine_categories(hits->view, id, names);
	for (size_t i = 0; i < categories; i++)
		count(rq, facet, names[i], strlen(names[i]));
}

/* `published` in days since 1970-01-01; 0: not known. */
static void count_year(struct request *rq, struct facet *facet, int32_t published)
{
	char date[DATE_TEXT_LEN + 1];
	if (published == 0)
		return;
	date_format(published * DAY_MS, date);
	count(rq, facet, date, YEAR_DIGITS);
}

/* The source of `biorxiv:10.1101/2026.11.20.123456`; ids of arXiv have no prefix. */
static void count_source(struct request *rq, struct facet *facet, const char *id)
{
	const char *colon = strchr(id, ':');
	count(rq, facet, colon ? id : "arxiv", colon ? (size_t)(colon - id) : strlen("arxiv"));
}

const char *facets_json(struct request *rq, const struct search_hits *hits)
{
	struct facet categories = {0}, years = {0}, sources = {0};
	size_t with_container = 0;
	for (size_t i = 0; i < hits->count; i++) {
		const struct engine_hit *hit = &hits->hits[i];
		count_categories(rq, &categories, hits, hit->id);
		count_year(rq, &years, hit->published);
		count_source(rq, &sources, hit->id);
		with_container += hit->has_container;
	}
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_uint(doc, root, "total", hits->count);
	yyjson_mut_obj_add_bool(doc, root, "truncated", hits->count == ENGINE_MAX_RESULTS);
	add_facet(doc, root, "by_category", &categories);
	add_facet(doc, root, "by_year", &years);
	yyjson_mut_val *containers = yyjson_mut_obj_add_obj(doc, root, "by_container");
	yyjson_mut_obj_add_uint(doc, containers, "with", with_container);
	yyjson_mut_obj_add_uint(doc, containers, "without", hits->count - with_container);
	add_facet(doc, root, "by_source", &sources);
	return json_write_mut(rq->arena, root, NULL);
}
