/** Asks the services for their parts of a graph of evidence, all at once, and search for the titles
 * of papers. A part that a key may not see, or whose service does not answer in time, is missing
 * and says so; the rest is shown. */
#pragma once

#include "evidence/graph.h"
#include "loop/request.h"

/** How long a service may take. */
#define PART_TIMEOUT_MS 2000

enum part_name {
	PART_RECOMMENDATIONS,
	PART_FLEET,
	PART_EVALUATIONS,
	PART_PAPERS,
	PART_EXPERIMENTS,
	PART_COUNT
};

struct part {
	const char
		*question;   /* JSON text of an object, without the key's limits; NULL: not asked */
	yyjson_val *answer;  /* in the request's arena; NULL: it is missing, or was not asked */
	const char *missing; /* why: `scope`, `key_limit`, `timeout` or `unavailable` */
	yyjson_mut_val *named; /* ids that the second round asked for, and to which the answer is
	                          one; NULL: none */
	bool is_cut;           /* the second round did not ask for all that was named */
};

/** The experiments are this service's own, and are not asked for; PART_EXPERIMENTS only says that
 * they are missing. */

/** Ask for each part that has a question. Suspends. */
void parts_ask(struct request *rq, struct part parts[PART_COUNT]);

/** Ask svc-fleet and svc-interests once more where the first answers name what they did not bring:
 * a recommendation of a run that is of another paper or older than those that are shown, and what
 * a run opened for a recommendation without saying for which paper. At most 100 of each are asked
 * for; is_cut says that there are more. Suspends. */
void parts_ask_again(struct request *rq, struct part parts[PART_COUNT]);

/** The same of what runs opened for recommendations alone. */
void parts_ask_links(struct request *rq, struct part parts[PART_COUNT]);

/** Whether the part was asked for this id by name, and answered: what is not in the answer then is
 * not there. */
bool part_was_asked_for(const struct part *part, const char *id);

/** Ask svc-search about the papers that edges of the graph name, and add a node for each. Of more
 * than 100, the others have a node without a title, and is_truncated is set. Suspends. */
void parts_add_papers(struct request *rq, struct graph *graph, struct part *papers);

/** `[{"part": "fleet", "why": "timeout"}]` */
yyjson_mut_val *parts_missing(yyjson_mut_doc *doc, const struct part parts[PART_COUNT]);

/** Whether a service did not answer, so that the same question may have another answer later. */
bool parts_are_unanswered(const struct part parts[PART_COUNT]);

/** The sum of `hidden` over the parts: what the key's limit keeps back. */
int64_t parts_hidden(const struct part parts[PART_COUNT]);
