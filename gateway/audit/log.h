/** Reading the audit log. */
#pragma once

#include "loop/request.h"

/** GET /account/audit: a page of the entries of the caller's account, newest first; or, as
 * application/x-ndjson, all of a period, which are sent while they are read. An operator's have
 * those of deleted accounts besides. */
void audit_list(struct request *rq);
