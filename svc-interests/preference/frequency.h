/** In how many papers of a sample a term occurs, and from that how telling it is.
 *
 *     idf = ln(1 + documents / document frequency)
 *
 * Terms that occur in one paper only are not kept, so the table stays small: a word that is not in
 * it counts as seen once, and a pair of words that is not in it has the idf 0.
 *
 * A table can be saved and loaded, so that a model meets the same idf that it was fitted with.
 */
#pragma once

#include "base/arena.h"
#include "preference/codec.h"
#include "preference/features.h"

#include <stddef.h>
#include <stdint.h>

/** Entries of a table at most; the most frequent stay. */
enum { FREQUENCY_MAX_TERMS = 65536 };

/** Count the terms of `count` bags. Zero bags are fine. */
struct frequency_table *frequency_table_new(struct arena *arena, const struct bag *const *bags,
                                            size_t count);

/** idf of a term; see above. */
double frequency_idf(const struct frequency_table *table, uint32_t term);

/** Papers that were counted. */
uint32_t frequency_documents(const struct frequency_table *table);

/** Append the table's bytes. */
void frequency_write(const struct frequency_table *table, struct buf *out);

/** Read a table that frequency_write() wrote; NULL where the bytes are damaged. */
struct frequency_table *frequency_read(struct arena *arena, struct reader *in);
