/** How the relevance of a query's best candidate is computed (fusion.h): the full score, and the
 * weight of the cosine. */
#pragma once

#include "engine/fusion.h"
#include "engine/text/parsed_query.h"
#include "engine/view.h"

/** The scale for a query of at most QUERY_MAX_TERMS terms, which have their smoothed idf.
 * `has_vector`: it has a vector that is comparable with those of the papers. */
struct relevance_scale relevance_scale_of(const struct engine_view *view,
                                          const struct parsed_query *query, bool has_vector);
