/** svc-interests/analysis/: proposing an interest for a repository, without making one. */
#pragma once

#include "base/config.h"
#include "loop/request.h"

/** LLM_TIMEOUT. */
extern const struct setting ANALYSIS_SETTINGS[];

/** The operation repository_analyze: {"name", "context", "sources"}, as the body of an interest has
 * them. A language model words them where one is configured and says something usable; else they
 * are the name of the repository, the beginning of what it says of itself, and no choice of
 * sources. */
void repository_analyze(struct request *rq);
