/** svc-interests/digest/: the digest, which is the papers of a period that were recommended for
 * each active interest, a page of interests at a time.
 *
 * Its entity tag is a version that the changes of interests, recommendations, feedback and papers
 * raise (digest.fn.sql), so a client that has it already is answered 304, and nothing is computed.
 * For one that does not, digest_json.h makes the digest of the recommendations that Postgres finds
 * and of their papers, which the worker keeps (recommended/recommended_paper.h).
 */
#pragma once

#include "loop/request.h"

void digest_get(struct request *rq);
