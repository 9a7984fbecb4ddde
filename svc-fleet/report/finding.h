/** Findings: what stands out in a report, found by rules over facts.
 *
 * A rule is one function that reads the facts that SQL gathered (fleet_report() in report.fn.sql)
 * and adds a finding for each case over its threshold. Rules know neither HTTP nor SQL. A finding
 * is
 *
 *     {"severity": "warning", "kind": "repeated_failure", "repo": "acme/ranker",
 *      "text": "7 runs failed for one reason: tests fail",
 *      "evidence": {"run_ids": [17, 18], "query": "/api/v1.0/fleet/runs?…"}}
 *
 * severity is `info`, `warning` or `critical`. `evidence` has the run ids that a finding was
 * computed from, or a query that lists them. */
#pragma once

#include "base/arena.h"

#include <yyjson.h>

/** What the rules look at. Borrows. */
struct finding_facts {
	yyjson_val *sums;  /* fleet_sums(); gates are in it */
	yyjson_val *facts; /* of fleet_report() */
	const char *query; /* lists the runs of the report; filters may follow */
};

/** Apply all rules: append findings to the array `findings`, the most severe first. */
void findings_add(struct arena *arena, yyjson_mut_doc *doc, yyjson_mut_val *findings,
                  const struct finding_facts *facts);
