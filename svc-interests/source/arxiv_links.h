/** Finds the arXiv papers that a text refers to: by a link, or by a citation such as
 * `arXiv:2205.14135`. */
#pragma once

#include "base/arena.h"

/** At most this many papers are returned. */
#define ARXIV_LINKS_MAX 8

/** Ids of the papers that `text` refers to, in order of their first occurrence, each once, as a
 * JSON array in `arena`; NULL: none. A version stays (`2205.14135v2`), a `.pdf` is removed. Does
 * not check that the papers exist. */
const char *arxiv_links_find(struct arena *arena, const char *text);
