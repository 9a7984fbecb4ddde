/** Evidence in other forms than its own, for other programs and people. Both are made of the JSON
 * that evidence_collect() makes, which the process or its database wrote. */
#pragma once

#include "loop/request.h"

/** A page of Markdown for a pull request or a wiki: the way in the order of time, what it cost,
 * what was passed over and why, the result, the decision, and the digest. In the request's arena.
 * Texts of papers, runs and people are in code spans, so that none is read as Markdown; those of
 * the result and the decision are quoted. */
const char *evidence_page(struct request *rq, const char *json);

/** PROV-JSON, the W3C member submission of 24 April 2013, as Python's `prov` reads and writes it.
 * In the request's arena.
 *
 *     {"prefix": {"expops": "https://expops.example.com/ns#", "id": "https://expops.example.com/id/"},
 *      "entity": {"id:paper%3A2205.14135": {"prov:type": …, "expops:title": "…"}},
 *      "activity": {…}, "agent": {…},
 *      "used": {"_:id1": {"prov:activity": "id:…", "prov:entity": "id:…"}}, …}
 */
const char *evidence_provenance(struct request *rq, const char *json);
