/** What builder.c gathers and builder_write.c turns into a blob; no business of other files. */
#pragma once

#include "base/arena.h"
#include "engine/lexical/builder.h"
#include "engine/text/intern.h"

struct builder_doc {
	uint64_t seq;
	size_t forward; /* where its four runs begin in `forward`, terms by intern number */
	uint32_t id;    /* intern number in `ids`, the index of this entry too */
	uint32_t categories;
	int32_t published;
	uint16_t length;
	uint8_t category_count;
	uint8_t has_container;
	const int8_t *vector; /* in the builder's arena, or of who it was added from; or NULL */
};

/** A growing string of bytes. */
struct bytes {
	uint8_t *data;
	size_t length;
	size_t capacity;
};

/** A growing list of term numbers. */
struct numbers {
	uint32_t *items;
	size_t count;
	size_t capacity;
};

enum builder_run { RUN_TITLE, RUN_ABSTRACT, RUN_TITLE_EXTRA, RUN_ABSTRACT_EXTRA, RUN_COUNT };

struct builder {
	struct tokenizer *tokenizer;
	struct intern terms;
	struct intern ids;
	struct intern categories;
	struct builder_doc *docs; /* by intern number of the id */
	size_t docs_capacity;
	struct bytes forward;
	uint16_t *category_list;
	size_t category_list_count;
	size_t category_list_capacity;
	struct numbers runs[RUN_COUNT]; /* of the document that is being added */
	const struct segment *source;   /* the segment that `source_terms` maps from */
	uint32_t *source_terms;         /* its term number to ours + 1; 0 is not known yet */
	const atomic_bool *cancel;      /* set when the build is to be abandoned; NULL: never */
	uint32_t dimension;             /* of the vectors; 0 while there are none */
	struct arena *vectors;          /* copies of them; NULL while there are none */
};

/** Append to a string of bytes. */
void bytes_add(struct bytes *bytes, const void *data, size_t length);
void bytes_add_varint(struct bytes *bytes, uint32_t value);
