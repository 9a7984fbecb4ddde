/** What the parts of the HTTP client share; nobody else includes this. */
#pragma once

#include "client/fetch.h"

/** As fetch_try(); `is_direct`: past any proxy that the environment names. */
enum err_code fetch_transfer(struct request *rq, const struct fetch_call *call, bool is_direct,
                             struct fetch_answer **ret_answer);
