/** Memory for work on another thread. */
#pragma once

#include "loop/request.h"

/** An arena that nothing else uses meanwhile; freed with the request. */
struct arena *scratch_new(struct request *rq);
