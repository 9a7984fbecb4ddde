/** arXiv identifiers and categories. Identifiers: `2401.01234` since 2007-04, `hep-th/9901001` before; a version (`v2`) names
 * one state of the paper and is dropped, as is the subject class of an old one (`math.GT/0309136`
 * is `math/0309136`). Source: https://info.arxiv.org/help/arxiv_identifier.html */
#pragma once

#include <stdbool.h>

#define ARXIV_ID_MAX 32

/** Read an identifier in any of its forms, `arXiv:` before it or not, and write the canonical
 * one. */
bool arxiv_id_parse(const char *text, char out[ARXIV_ID_MAX + 1]);

/** Bytes of the longest category. */
#define ARXIV_CATEGORY_MAX 64

/** Whether `text` is a category such as `cs.LG`, or could be one: a word of letters, digits, points
 * and hyphens. */
bool arxiv_category_is(const char *text);
