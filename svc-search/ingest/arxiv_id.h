/** arXiv identifiers and categories.
 *
 * Identifiers are `2401.01234` since April 2007 and `hep-th/9901001` before. The canonical form has
 * no version (`v2`), and old identifiers have no subject class: `math.GT/0309136` is
 * `math/0309136`. Source: https://info.arxiv.org/help/arxiv_identifier.html */
#pragma once

#include <stdbool.h>

/** Bytes of the longest identifier. */
#define ARXIV_ID_MAX 32

/** Read an identifier in any form, with or without `arXiv:`, and write its canonical form to `out`.
 * False: `text` is not an identifier. */
bool arxiv_id_parse(const char *text, char out[ARXIV_ID_MAX + 1]);

/** Bytes of the longest category. */
#define ARXIV_CATEGORY_MAX 64

/** Whether `text` has the form of a category such as `cs.LG`: 1 to ARXIV_CATEGORY_MAX letters,
 * digits, points, underscores and hyphens. */
bool arxiv_category_is(const char *text);
