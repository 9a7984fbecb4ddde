#include "engine/lexical/builder.h"

#include "engine/lexical/bm25.h"
#include "engine/lexical/builder_internal.h"
#include "engine/text/mem.h"
#include "engine/text/name.h"
#include "engine/text/token.h"

#include <string.h>

/* Stems that the tokenizer caches: enough for most words of a corpus, in less than 1 MB. */
#define STEM_CACHE_SLOTS 16384

/* The runs that receive the main and extra tokens of a field. */
struct field_target {
	struct builder *builder;
	enum builder_run main_run;
	enum builder_run extra_run;
};

void bytes_done(struct bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bytes){0};
}

void bytes_reserve(struct bytes *bytes, size_t length)
{
	if (bytes->length + length <= bytes->capacity)
		return;
	bytes->capacity = mem_capacity(bytes->capacity, bytes->length + length);
	bytes->data = mem_resize(bytes->data, bytes->capacity, 1);
}

void bytes_add(struct bytes *bytes, const void *data, size_t length)
{
	bytes_reserve(bytes, length);
	if (length > 0)
		memcpy(bytes->data + bytes->length, data, length);
	bytes->length += length;
}

static void numbers_add(struct numbers *numbers, uint32_t number)
{
	if (numbers->count == numbers->capacity) {
		numbers->capacity = mem_capacity(numbers->capacity, 256);
		numbers->items = mem_resize(numbers->items, numbers->capacity, sizeof(uint32_t));
	}
	numbers->items[numbers->count++] = number;
}

struct builder *builder_new(uint32_t dimension)
{
	struct builder *builder = mem_array(1, sizeof(*builder));
	builder->tokenizer = tokenizer_new(STEM_CACHE_SLOTS);
	builder->dimension = dimension;
	return builder;
}

void builder_free(struct builder *builder)
{
	if (!builder)
		return;
	tokenizer_free(builder->tokenizer);
	intern_done(&builder->terms);
	intern_done(&builder->ids);
	intern_done(&builder->categories);
	free(builder->docs);
	free(builder->forward.data);
	free(builder->category_list);
	for (size_t i = 0; i < RUN_COUNT; i++)
		free(builder->runs[i].items);
	for (size_t i = 0; i < builder->source_count; i++) {
		free(builder->sources[i].terms);
		free(builder->sources[i].categories);
	}
	free(builder->sources);
	free(builder->name_docs);
	arena_free(builder->vectors);
	free(builder);
}

void builder_set_cancel_flag(struct builder *builder, const atomic_bool *cancel)
{
	builder->cancel = cancel;
}

uint32_t builder_count(const struct builder *builder)
{
	return builder->ids.count;
}

static void add_token(const struct token *token, void *ctx)
{
	struct field_target *target = ctx;
	struct builder *builder = target->builder;
	enum builder_run run = token->is_extra ? target->extra_run : target->main_run;
	uint32_t number = token->memo ? *token->memo : 0;
	if (number == 0)
		number = 1 + intern_add(&builder->terms, token->text, token->length);
	if (token->memo)
		*token->memo = number;
	numbers_add(&builder->runs[run], number - 1);
}

static void add_field(struct builder *builder, const char *text, enum builder_run main_run,
                      enum builder_run extra_run)
{
	struct field_target target = {builder, main_run, extra_run};
	tokenizer_run(builder->tokenizer, text, strlen(text), add_token, &target);
}

/* The authors of a document that is being added. */
struct author_target {
	struct builder *builder;
	uint32_t document; /* a number that no other document has; not 0 */
	uint32_t repeats;  /* how often the terms of this author count */
};

/* Whether the document does not have the term yet; from now on it has it. */
static bool is_new_name(struct author_target *target, uint32_t term)
{
	struct builder *builder = target->builder;
	if (term >= builder->name_docs_capacity) {
		size_t before = builder->name_docs_capacity;
		builder->name_docs_capacity = mem_capacity(before, term + (size_t)1);
		builder->name_docs = mem_resize(builder->name_docs, builder->name_docs_capacity,
		                                sizeof(uint32_t));
		memset(builder->name_docs + before, 0,
		       (builder->name_docs_capacity - before) * sizeof(uint32_t));
	}
	bool is_new = builder->name_docs[term] != target->document;
	builder->name_docs[term] = target->document;
	return is_new;
}

static void add_name_term(const char *text, size_t length, void *ctx)
{
	struct author_target *target = ctx;
	uint32_t term = intern_add(&target->builder->terms, text, length);
	if (!is_new_name(target, term))
		return;
	for (uint32_t i = 0; i < target->repeats; i++)
		numbers_add(&target->builder->runs[RUN_AUTHORS], term);
}

/* Add the terms of the authors, each once, and those of the first one BM25_FIRST_AUTHOR_COUNT times: a
 * paper of a thousand authors has not more to do with each name. */
static void add_authors(struct builder *builder, const struct document *document)
{
	size_t count = MIN_OF(document->author_count, (size_t)DOCUMENT_MAX_AUTHORS);
	struct author_target target = {.builder = builder, .document = ++builder->name_document};
	for (size_t i = 0; i < count; i++) {
		target.repeats = i == 0 ? BM25_FIRST_AUTHOR_COUNT : 1;
		name_index_terms(document->authors[i], strlen(document->authors[i]), add_name_term,
		                 &target);
	}
}

/* Add or reset the entry for `id`. Returns NULL if a newer state of the document was added
 * before. */
static struct builder_doc *reset_doc(struct builder *builder, const char *id, uint64_t seq)
{
	uint32_t before = builder->ids.count;
	uint32_t number = intern_add(&builder->ids, id, strlen(id));
	if (number >= builder->docs_capacity) {
		builder->docs_capacity = mem_capacity(builder->docs_capacity, 64);
		builder->docs = mem_resize(builder->docs, builder->docs_capacity,
		                           sizeof(struct builder_doc));
	}
	struct builder_doc *doc = &builder->docs[number];
	if (number < before && doc->seq > seq)
		return NULL;
	builder->has_replaced |= number < before;
	*doc = (struct builder_doc){.id = number, .seq = seq};
	return doc;
}

/* Add the category with this intern number. */
static void add_category(struct builder *builder, struct builder_doc *doc, uint32_t number)
{
	if (number > UINT16_MAX || doc->category_count == DOCUMENT_MAX_CATEGORIES)
		return;
	if (builder->category_list_count == builder->category_list_capacity) {
		builder->category_list_capacity =
			mem_capacity(builder->category_list_capacity, 256);
		builder->category_list =
			mem_resize(builder->category_list, builder->category_list_capacity,
		                   sizeof(uint16_t));
	}
	builder->category_list[builder->category_list_count++] = (uint16_t)number;
	doc->category_count++;
}

/* Append the runs to the forward bytes, set the weighted length of the document and clear the
 * runs. */
static void flush_runs(struct builder *builder, struct builder_doc *doc)
{
	size_t count = RUN_COUNT;
	size_t length = builder->runs[RUN_TITLE].count * BM25_TITLE_WEIGHT +
	                builder->runs[RUN_ABSTRACT].count;
	doc->length = (uint16_t)MIN_OF(length, (size_t)SEGMENT_MAX_LENGTH);
	doc->forward = builder->forward.length;
	for (size_t run = 0; run < RUN_COUNT; run++)
		count += builder->runs[run].count;
	bytes_reserve(&builder->forward, count * VARINT_MAX_BYTES);
	for (size_t run = 0; run < RUN_COUNT; run++)
		bytes_add_varint(&builder->forward, (uint32_t)builder->runs[run].count);
	for (size_t run = 0; run < RUN_COUNT; run++) {
		struct numbers *numbers = &builder->runs[run];
		for (size_t i = 0; i < numbers->count; i++)
			bytes_add_varint(&builder->forward, numbers->items[i]);
		numbers->count = 0;
	}
}

/* Whether the builder accepts a vector of `dimension` elements. */
static bool accept_dimension(struct builder *builder, uint32_t dimension)
{
	if (builder->dimension == 0)
		builder->dimension = dimension;
	builder->has_vectors |= builder->dimension == dimension;
	return builder->dimension == dimension;
}

void builder_add(struct builder *builder, const struct document *document)
{
	require(strlen(document->id) <= DOCUMENT_MAX_ID);
	struct builder_doc *doc = reset_doc(builder, document->id, document->seq);
	if (!doc)
		return;
	doc->published = document->published;
	doc->has_container = document->has_container;
	doc->categories = (uint32_t)builder->category_list_count;
	for (size_t i = 0; i < document->category_count; i++)
		add_category(builder, doc,
		             intern_add(&builder->categories, document->categories[i],
		                        strlen(document->categories[i])));
	if (document->vector && accept_dimension(builder, document->dimension)) {
		if (!builder->vectors)
			builder->vectors = arena_new();
		doc->vector = arena_memdup(builder->vectors, document->vector, document->dimension);
	}
	add_field(builder, document->title, RUN_TITLE, RUN_TITLE_EXTRA);
	add_field(builder, document->abstract, RUN_ABSTRACT, RUN_ABSTRACT_EXTRA);
	add_field(builder, document->id, RUN_TITLE_EXTRA, RUN_TITLE_EXTRA);
	add_authors(builder, document);
	flush_runs(builder, doc);
}

/* The source for the segment. Most documents come from the one that was added last. */
static struct builder_source *find_source(struct builder *builder, const struct segment *segment)
{
	for (size_t i = builder->source_count; i-- > 0;)
		if (builder->sources[i].segment == segment)
			return &builder->sources[i];
	if (builder->source_count == builder->sources_capacity) {
		builder->sources_capacity = mem_capacity(builder->sources_capacity, 8);
		builder->sources = mem_resize(builder->sources, builder->sources_capacity,
		                              sizeof(struct builder_source));
	}
	struct builder_source *source = &builder->sources[builder->source_count++];
	*source = (struct builder_source){
		.segment = segment,
		.categories = mem_array(segment->category_count, sizeof(uint32_t)),
	};
	return source;
}

/* The intern number of the source's category. */
static uint32_t map_category(struct builder *builder, struct builder_source *source,
                             uint32_t number)
{
	uint32_t *mapped = &source->categories[number];
	if (*mapped == 0) {
		const char *name = segment_category_name(source->segment, number);
		*mapped = 1 + intern_add(&builder->categories, name, strlen(name));
	}
	return *mapped - 1;
}

void builder_add_from(struct builder *builder, const struct segment *segment, uint32_t number,
                      const int8_t *vector, uint32_t dimension)
{
	const struct segment_doc *from = &segment->docs[number];
	struct builder_doc *doc = reset_doc(builder, segment_doc_id(segment, number), from->seq);
	if (!doc)
		return;
	struct builder_source *source = find_source(builder, segment);
	source->added++;
	doc->source = (uint32_t)(source - builder->sources) + 1;
	doc->forward = from->forward;
	doc->length = segment->lengths[number];
	doc->published = from->published;
	doc->has_container = from->has_container;
	doc->categories = (uint32_t)builder->category_list_count;
	for (uint32_t i = 0; i < from->category_count; i++)
		add_category(builder, doc,
		             map_category(builder, source,
		                          segment->category_list[from->categories + i]));
	if (vector && accept_dimension(builder, dimension))
		doc->vector = vector;
}

uint32_t builder_dimension(const struct builder *builder)
{
	return builder->has_vectors ? builder->dimension : 0;
}

const int8_t *builder_vector(const struct builder *builder, const char *id)
{
	uint32_t number = intern_find(&builder->ids, id, strlen(id));
	return number != INTERN_NONE ? builder->docs[number].vector : NULL;
}
