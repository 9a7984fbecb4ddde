#include "engine/lexical/builder.h"

#include "engine/lexical/bm25.h"
#include "engine/lexical/builder_internal.h"
#include "engine/text/mem.h"
#include "engine/text/name.h"
#include "engine/text/token.h"

#include <stdalign.h>
#include <string.h>

/* New documents that a thread reads at a time. */
#define DOCUMENTS_PER_STEP 32

/* The runs that receive the main and extra tokens of a field. */
struct field_target {
	struct builder_share *share;
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
	builder->dimension = dimension;
	return builder;
}

void builder_set_analyzer(struct builder *builder, struct analyzer *analyzer)
{
	require(!builder->analyzer);
	builder->analyzer = analyzer;
}

/* The shares, one for each thread of the analyzer. */
static void open_shares(struct builder *builder)
{
	if (builder->shares)
		return;
	if (!builder->analyzer) {
		builder->analyzer = analyzer_new(1);
		builder->owns_analyzer = true;
	}
	builder->share_count = builder->analyzer->count;
	size_t size = builder->share_count * sizeof(struct builder_share);
	builder->shares = aligned_alloc(alignof(struct builder_share), size);
	require(builder->shares && builder->share_count <= UINT16_MAX);
	memset(builder->shares, 0, size);
	for (size_t i = 0; i < builder->share_count; i++) {
		builder->shares[i].tokenizer = builder->analyzer->tokenizers[i];
		tokenizer_clear_memos(builder->shares[i].tokenizer);
	}
}

static void share_done(struct builder_share *share)
{
	intern_done(&share->terms);
	bytes_done(&share->forward);
	free(share->numbers);
	free(share->name_docs);
	for (size_t i = 0; i < RUN_COUNT; i++)
		free(share->runs[i].items);
}

void builder_free(struct builder *builder)
{
	if (!builder)
		return;
	for (size_t i = 0; i < builder->share_count; i++)
		share_done(&builder->shares[i]);
	free(builder->shares);
	if (builder->owns_analyzer)
		analyzer_free(builder->analyzer);
	intern_done(&builder->terms);
	intern_done(&builder->ids);
	intern_done(&builder->categories);
	free(builder->docs);
	free(builder->category_list);
	for (size_t i = 0; i < builder->source_count; i++) {
		free(builder->sources[i].terms);
		free(builder->sources[i].docs);
		free(builder->sources[i].categories);
	}
	free(builder->sources);
	arena_free(builder->vectors);
	free(builder->doc_vectors);
	free(builder->doc_lists);
	free(builder);
}

void builder_set_cancel_flag(struct builder *builder, const atomic_bool *cancel)
{
	builder->cancel = cancel;
}

void builder_set_folder(struct builder *builder, const char *folder)
{
	builder->folder = folder;
}

static void add_token(const struct token *token, void *ctx)
{
	struct field_target *target = ctx;
	struct builder_share *share = target->share;
	enum builder_run run = token->is_extra ? target->extra_run : target->main_run;
	uint32_t number = token->memo ? *token->memo : 0;
	if (number == 0)
		number = 1 + intern_add(&share->terms, token->text, token->length);
	if (token->memo)
		*token->memo = number;
	numbers_add(&share->runs[run], number - 1);
}

static void add_field(struct builder_share *share, const char *text, enum builder_run main_run,
                      enum builder_run extra_run)
{
	struct field_target target = {share, main_run, extra_run};
	size_t length = strlen(text);
	tokenizer_run(share->tokenizer, text, length, add_token, &target);
	if (main_run == RUN_TITLE && share->runs[main_run].count == 0)
		tokenizer_run_stop_words(share->tokenizer, text, length, add_token, &target);
}

/* The authors of a document that is being added. */
struct author_target {
	struct builder_share *share;
	uint32_t document; /* a number that no other document has; not 0 */
	uint32_t repeats;  /* how often the terms of this author count */
};

/* Whether the document does not have the term yet; from now on it has it. */
static bool is_new_name(struct author_target *target, uint32_t term)
{
	struct builder_share *share = target->share;
	if (term >= share->name_docs_capacity) {
		size_t before = share->name_docs_capacity;
		share->name_docs_capacity = mem_capacity(before, term + (size_t)1);
		share->name_docs =
			mem_resize(share->name_docs, share->name_docs_capacity, sizeof(uint32_t));
		memset(share->name_docs + before, 0,
		       (share->name_docs_capacity - before) * sizeof(uint32_t));
	}
	bool is_new = share->name_docs[term] != target->document;
	share->name_docs[term] = target->document;
	return is_new;
}

static void add_name_term(const char *text, size_t length, void *ctx)
{
	struct author_target *target = ctx;
	uint32_t term = intern_add(&target->share->terms, text, length);
	if (!is_new_name(target, term))
		return;
	for (uint32_t i = 0; i < target->repeats; i++)
		numbers_add(&target->share->runs[RUN_AUTHORS], term);
}

/* Add the terms of the authors, each once, and those of the first one BM25_FIRST_AUTHOR_COUNT
 * times: a paper of a thousand authors has not more to do with each name. */
static void add_authors(struct builder_share *share, const struct document *document)
{
	size_t count = MIN_OF(document->author_count, (size_t)DOCUMENT_MAX_AUTHORS);
	struct author_target target = {.share = share, .document = ++share->name_document};
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
	*doc = (struct builder_doc){.id = number, .seq = seq, .list = SEGMENT_NONE};
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
static void flush_runs(struct builder_share *share, struct builder_doc *doc)
{
	size_t count = RUN_COUNT;
	size_t length =
		share->runs[RUN_TITLE].count * BM25_TITLE_WEIGHT + share->runs[RUN_ABSTRACT].count;
	doc->length = (uint16_t)MIN_OF(length, (size_t)SEGMENT_MAX_LENGTH);
	doc->place = share->forward.length;
	for (size_t run = 0; run < RUN_COUNT; run++)
		count += share->runs[run].count;
	bytes_reserve(&share->forward, count * VARINT_MAX_BYTES);
	uint8_t *out = share->forward.data + share->forward.length;
	for (size_t run = 0; run < RUN_COUNT; run++)
		out = varint_write(out, (uint32_t)share->runs[run].count);
	for (size_t run = 0; run < RUN_COUNT; run++) {
		struct numbers *numbers = &share->runs[run];
		for (size_t i = 0; i < numbers->count; i++)
			out = varint_write(out, numbers->items[i]);
		numbers->count = 0;
	}
	share->forward.length = (size_t)(out - share->forward.data);
}

/* Whether the builder accepts a vector of `dimension` elements. */
static bool accept_dimension(struct builder *builder, uint32_t dimension)
{
	if (builder->dimension == 0)
		builder->dimension = dimension;
	builder->has_vectors |= builder->dimension == dimension;
	return builder->dimension == dimension;
}

/* Enter a new document, without its texts. Returns its number; SEGMENT_NONE: a newer state was
 * added before. */
static uint32_t enter_document(struct builder *builder, const struct document *document)
{
	require(strlen(document->id) <= DOCUMENT_MAX_ID);
	struct builder_doc *doc = reset_doc(builder, document->id, document->seq);
	if (!doc)
		return SEGMENT_NONE;
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
	return doc->id;
}

/* Add the texts of a document. */
static void add_texts(struct builder_share *share, const struct document *document,
                      struct builder_doc *doc)
{
	add_field(share, document->title, RUN_TITLE, RUN_TITLE_EXTRA);
	add_field(share, document->abstract, RUN_ABSTRACT, RUN_ABSTRACT_EXTRA);
	if (document->comments)
		add_field(share, document->comments, RUN_ABSTRACT_EXTRA, RUN_ABSTRACT_EXTRA);
	add_field(share, document->id, RUN_TITLE_EXTRA, RUN_TITLE_EXTRA);
	add_authors(share, document);
	flush_runs(share, doc);
}

/* Documents whose texts are to be added. */
struct entered {
	struct builder *builder;
	const struct document *const *documents;
	uint32_t *numbers; /* SEGMENT_NONE: not the newest state */
	size_t count;
	atomic_size_t next; /* the first one that no thread has taken */
};

/* Read documents into share number `first` until all are taken. */
static void read_share(size_t first, size_t end attr_unused, void *ctx)
{
	struct entered *entered = ctx;
	struct builder *builder = entered->builder;
	size_t at;
	while ((at = atomic_fetch_add(&entered->next, DOCUMENTS_PER_STEP)) < entered->count) {
		size_t last = MIN_OF(at + DOCUMENTS_PER_STEP, entered->count);
		for (; at < last; at++) {
			if (entered->numbers[at] == SEGMENT_NONE)
				continue;
			struct builder_doc *doc = &builder->docs[entered->numbers[at]];
			doc->share = (uint16_t)first;
			add_texts(&builder->shares[first], entered->documents[at], doc);
		}
	}
}

/* Only the state that was entered last counts when a document is there twice. `place` is free until
 * the texts are added. */
static void drop_older_states(struct entered *entered)
{
	struct builder_doc *docs = entered->builder->docs;
	for (size_t i = 0; i < entered->count; i++)
		if (entered->numbers[i] != SEGMENT_NONE)
			docs[entered->numbers[i]].place = i;
	for (size_t i = 0; i < entered->count; i++)
		if (entered->numbers[i] != SEGMENT_NONE && docs[entered->numbers[i]].place != i)
			entered->numbers[i] = SEGMENT_NONE;
}

void builder_add_all(struct builder *builder, const struct document *const *documents, size_t count)
{
	mem_auto_free uint32_t *numbers = mem_array(count, sizeof(*numbers));
	struct entered entered = {builder, documents, numbers, count, 0};
	open_shares(builder);
	for (size_t i = 0; i < count; i++)
		numbers[i] = enter_document(builder, documents[i]);
	drop_older_states(&entered);
	if (builder->analyzer->parallel && count > DOCUMENTS_PER_STEP)
		parallel_run(builder->analyzer->parallel, builder->share_count, read_share,
		             &entered);
	else
		read_share(0, 1, &entered);
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
		.docs = mem_array(segment->doc_count, sizeof(uint32_t)),
	};
	memset(source->docs, 0xFF, segment->doc_count * sizeof(uint32_t)); /* SEGMENT_NONE */
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
                      const int8_t *vector, uint32_t dimension, uint32_t list)
{
	const struct segment_doc *from = &segment->docs[number];
	struct builder_doc *doc = reset_doc(builder, segment_doc_id(segment, number), from->seq);
	if (!doc)
		return;
	struct builder_source *source = find_source(builder, segment);
	source->added++;
	doc->source = (uint32_t)(source - builder->sources) + 1;
	doc->place = number;
	doc->length = segment->lengths[number];
	doc->published = from->published;
	doc->has_container = from->has_container;
	doc->categories = (uint32_t)builder->category_list_count;
	for (uint32_t i = 0; i < from->category_count; i++)
		add_category(builder, doc,
		             map_category(builder, source,
		                          segment->category_list[from->categories + i]));
	if (vector && accept_dimension(builder, dimension)) {
		doc->vector = vector;
		doc->list = list;
	}
}

uint32_t builder_dimension(const struct builder *builder)
{
	return builder->has_vectors ? builder->dimension : 0;
}

const int8_t *builder_vector(const struct builder *builder, uint32_t doc)
{
	return builder->doc_vectors ? builder->doc_vectors[doc] : NULL;
}

const uint32_t *builder_lists(const struct builder *builder)
{
	return builder->doc_lists;
}
