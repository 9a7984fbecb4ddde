/** Asking for a harvest before its time. */
#pragma once

#include "loop/request.h"

void harvest_request(struct request *rq);
