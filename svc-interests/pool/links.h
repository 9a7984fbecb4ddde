/** Papers that a text refers to: by a link to arXiv, or as it is cited, `arXiv:2205.14135`. */
#pragma once

#include "base/arena.h"

/** As many as are looked for. */
#define LINKS_MAX 8

/** Ids of the papers that `text` names, in order, each once, as a JSON array in `arena`; NULL:
 * there are none. What follows a version (`v2`) or `.pdf` is cut off with it; whether there is such
 * a paper is for svc-search to say. */
const char *links_find(struct arena *arena, const char *text);
