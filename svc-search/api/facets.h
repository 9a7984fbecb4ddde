/** Facets of a search: how many of the papers that it finds have a category, are of a year, and so
 * on. */
#pragma once

#include "api/search_hits.h"

/** The JSON object of POST /search/assets/facets, each member with the greatest counts first. A
 * paper counts in each of its categories; one without a date is of no year.
 *
 *     {"total": 74, "truncated": false, "by_category": {"cs.CL": 41, "cs.LG": 38},
 *      "by_year": {"2026": 30, "2025": 44}, "by_container": {"with": 3, "without": 71},
 *      "by_source": {"arxiv": 74}}
 */
const char *facets_json(struct request *rq, const struct search_hits *hits);
