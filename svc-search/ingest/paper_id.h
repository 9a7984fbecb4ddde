/** Identifiers of papers, and categories.
 *
 * Those of arXiv are `2401.01234` since April 2007 and `hep-th/9901001` before. The canonical form
 * has no version (`v2`), and old identifiers have no subject class: `math.GT/0309136` is
 * `math/0309136`. Source: https://info.arxiv.org/help/arxiv_identifier.html
 *
 * Those of other sources are the source's name and the DOI, whose suffix is of digits and points:
 * `biorxiv:10.1101/2026.11.20.123456`. The canonical form
 * has no version either. */
#pragma once

#include <stdbool.h>

/** Bytes of the longest identifier: the index takes no longer ones. */
#define PAPER_ID_MAX 63

/** Read an identifier in any form, with or without `arXiv:`, and write its canonical form to `out`.
 * False: `text` is not an identifier. */
bool paper_id_parse(const char *text, char out[PAPER_ID_MAX + 1]);

/** Bytes of the longest category. */
#define CATEGORY_MAX 64

/** Whether `text` has the form of a category such as `cs.LG`: 1 to CATEGORY_MAX letters, digits,
 * points, underscores and hyphens. */
bool category_is(const char *text);
