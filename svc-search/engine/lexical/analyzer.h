/** What turns the texts of documents into terms: threads with a tokenizer each. Builders
 * (builder.h) use one after another, so that the tokenizers keep the stems that they have
 * computed. */
#pragma once

#include "engine/text/parallel.h"
#include "engine/text/token.h"

#include <stddef.h>

struct analyzer {
	struct parallel *parallel; /* NULL: one thread, the caller's */
	struct tokenizer **tokenizers;
	size_t count; /* of the tokenizers: the threads that work at a time */
};

/** For one builder at a time. Starts `threads` - 1 threads. */
struct analyzer *analyzer_new(int threads);

/** Accepts NULL. */
void analyzer_free(struct analyzer *analyzer);
