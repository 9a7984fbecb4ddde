/** The filter of a search (engine/filter.h), from checked input. */
#pragma once

#include "engine/filter.h"
#include "loop/request.h"

/** The filter of the members `categories`, `sources` and `has_container` of the body, which are
 * optional. Borrows from it. */
struct filter search_filter_of_body(struct request *rq);

/** Let only papers pass that were published on a day, `2026-01-31`, or later. NULL: any. */
void search_filter_since(struct filter *filter, const char *date);
