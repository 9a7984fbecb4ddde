/** Papers in the formats of reference managers, in UTF-8:
 *
 * BibTeX (Patashnik, "BibTeXing", 1988), with the fields of arXiv's own export:
 *
 *     @misc{arXiv:2205.14135,
 *       title = {{FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness}},
 *       author = {Dao, Tri and Fu, Daniel Y. and Ré, Christopher},
 *       year = {2022},
 *       month = may,
 *       eprint = {2205.14135},
 *       archiveprefix = {arXiv},
 *       ...
 *     }
 *
 * RIS (Research Information Systems), of type UNPB, with lines that end in CR LF:
 *
 *     TY  - UNPB
 *     ID  - arXiv:2205.14135
 *     TI  - FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness
 *     AU  - Dao, Tri
 *     ...
 *     ER  -
 *
 * The key of a paper is made of its id alone, so it stays when the paper changes. */
#pragma once

#include "base/arena.h"

#include <yyjson.h>

#include <stddef.h>

enum citation_format { CITATION_BIBTEX, CITATION_RIS };

/** The papers of a JSON array of objects, each once: of two with one id the first. `member` names
 * the member of an object that is its paper, with the members of an asset; NULL: the object itself.
 * In the arena; *ret_length bytes. */
const char *citation_list(struct arena *arena, enum citation_format format, yyjson_val *list,
                          const char *member, size_t *ret_length);
