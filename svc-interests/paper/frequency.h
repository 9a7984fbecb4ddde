/** Document frequencies of terms in a sample of papers, and their idf:
 *
 *     idf = ln(1 + documents / document frequency)
 *
 * Terms that occur in only one paper are not stored, to keep the table small. A word that is not in
 * the table has the document frequency 1; a pair of words that is not in the table has the idf 0.
 *
 * A table is saved with each model, so that papers are scored with the idf of the model's fitting.
 */
#pragma once

#include "base/arena.h"
#include "paper/bag.h"
#include "paper/codec.h"

#include <stddef.h>
#include <stdint.h>

/** Terms of a table at most; the most frequent are kept. */
enum { FREQUENCY_MAX_TERMS = 65536 };

/** Count the terms of `count` bags, which may be 0. In `arena`. */
struct frequency_table *frequency_table_new(struct arena *arena, const struct bag *const *bags,
                                            size_t count);

/** idf of a term. */
double frequency_idf(const struct frequency_table *table, uint32_t term);

/** Number of papers in the sample. For tests. */
uint32_t frequency_documents(const struct frequency_table *table);

/** Serialize the table to `out`. */
void frequency_write(const struct frequency_table *table, struct buf *out);

/** Read a table that frequency_write() wrote, in `arena`. NULL: the bytes are damaged. */
struct frequency_table *frequency_read(struct arena *arena, struct reader *in);
