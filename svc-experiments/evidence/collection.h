/** Collects the evidence of an experiment: asks the services for their parts and makes one answer
 * of them. */
#pragma once

#include "loop/request.h"

#include <stdbool.h>
#include <stddef.h>

/** Of the graph, nodes and edges, as JSON; the rest of an answer is a few kilobytes. */
#define EVIDENCE_GRAPH_BYTES_MAX ((size_t)248 << 10)

struct evidence {
	/* In the request's arena; `digest` is the SHA-256, in hex, of the first three members in
	 * the canonical form of JSON (json/json_canonical.h):
	 *
	 *     {"root", "nodes", "edges", "digest", "generated_at", "summary", "missing",
	 *      "truncated", "hidden", "snapshot": null} */
	const char *json; /* NULL: the caller's account has no such experiment */
	const char *digest;
	bool is_partial; /* a service did not answer */
};

/** Collect what the caller may see. Suspends. */
struct evidence evidence_collect(struct request *rq, const char *experiment);
