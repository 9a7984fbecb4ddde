/** svc-interests/paper/: papers as the model sees them: words, bags of terms, vectors. This file
 * reads papers from the JSON that this service's statements return, and computes their features.
 *
 *     [{"arxiv_id":"2205.14135","title":"…","abstract":"…","categories":["cs.LG"],
 *       "published_at":"2022-05-27T17:53:09.000Z","has_container":false,
 *       "github_url":"https://github.com/…","vector":"<base64>","scale":0.01,"model":"3-200",
 *       "version":812,"withdrawn":false,"relevance":0.8,"matched":["attention"],"signal":"like",
 *       "coefficient":0.31,"index":0}]
 *
 * `vector` holds one signed byte for each dimension; `scale` is the factor of each byte. Vectors of
 * different models must not be compared. Every member is optional. */
#pragma once

#include "paper/features.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct paper {
	const char *arxiv_id; /* NULL: the paper is in no index */
	int64_t index;        /* position in the client's list, for a paper without arxiv_id */
	struct paper_text text;
	double published_ms; /* NaN: unknown */
	double age_days;     /* since publication; NaN: unknown */
	int64_t version;     /* of svc-search; 0: unknown */
	bool has_container;
	bool is_withdrawn;
	const char *code_url;       /* of the authors' code; NULL: unknown */
	double relevance;           /* 0..1, from search, to the interest */
	const char *const *matched; /* query words that search matched, highest weight first */
	size_t matched_count;
	double preference;     /* of a candidate that was not read, its stored preference score */
	const char *signal;    /* of a reader; NULL: none */
	double coefficient;    /* of an example, in the model; 0: unknown */
	const struct bag *bag; /* NULL before papers_make_bags() */
	const struct features *features;          /* NULL before papers_make_features() */
	const struct frequency_table *weighed_by; /* that `features` were made with */
};

struct paper_list {
	struct paper *papers;
	size_t count;
};

/** Read the array in `json`, NUL-terminated, or that in its member `results`; ages are computed at
 * the time `now_ms`. Copies into `arena`. Invalid JSON, or JSON that is no array, gives an empty
 * list. */
struct paper_list papers_read(struct arena *arena, const char *json, int64_t now_ms);

/** The more relevant first; of equal ones the lower id. For qsort(). */
int papers_by_relevance(const void *a, const void *b);

/** Days from the publication until `now_ms`, 0 at least; NaN when it is unknown. */
double paper_age_days(double published_ms, int64_t now_ms);

/** Make the bag of each paper that has none. Returns the bags in the order of the papers. */
const struct bag **papers_make_bags(struct arena *arena, struct word_splitter *splitter,
                                    struct paper_list papers);

/** Make the features of each paper that has none of these frequencies; the papers must have bags.
 * Returns the features in the order of the papers. */
const struct features **papers_make_features(struct arena *arena,
                                             const struct frequency_table *frequencies,
                                             struct paper_list papers);
