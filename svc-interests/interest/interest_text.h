/** svc-interests/interest/: what the text of an interest says. This file removes
 * from it what does not describe its topic. The result is what is searched for and compared with
 * papers.
 *
 *   web addresses   are replaced by the words of their paths, without generic words such as "blob"
 *                   or "pdf": https://github.com/Dao-AILab/flash-attention gives `flash attention`.
 *                   arXiv addresses and ids give nothing (source/arxiv_links.h reads them).
 *   exclusions      are removed: what the text refuses (exclusion.h).
 *   function words  of other languages than English are removed. Papers are in English, where a
 *                   German "von" is rare and would get a high weight (language.h, east_asian.h).
 */
#pragma once

#include "base/arena.h"

#include <stddef.h>

/** The topic words of `text`, in `arena`. Returns `text` itself when no word would be left. */
const char *interest_text_clean(struct arena *arena, const char *text);

/** The things that `text` refuses, in `arena`. */
const char *const *interest_text_refused(struct arena *arena, const char *text, size_t *ret_count);
