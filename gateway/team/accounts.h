/** The accounts of a person. */
#pragma once

#include "loop/request.h"

/** GET /accounts: those that the person of the caller is a member of. */
void accounts_list(struct request *rq);

/** POST /accounts: a new one, whose owner is the person of the caller's session. */
void account_create(struct request *rq);
