/** svc-integrations/setup/: setting up the app at the code host.
 *
 *     landing_state.c     the state that the code host gives back to a page of the console
 *     manifest.c          what the app is asked to be: GitHub's app manifest
 *     app_registration.c  the operations that make the app, show it and forget it
 *     app_installed.c     the operations for installing it: where, and whether it is done
 *     app_page.c          `svc-integrations app-page`: making the app without the console
 *
 *     manifest --form--> code host --code, state--> created --install address--> code host
 *                                                         --installation_id, state--> installed
 *
 * A state belongs to the account that asked for it, lives an hour, which is the code host's time
 * for making an app, and works once. It is used up when the step is done: while the code host is
 * away, it can be sent again. */
#pragma once

#include "loop/request.h"

/** What a state may be used for. */
enum landing {
	LANDING_CREATE,  /* store the app that was made */
	LANDING_REPLACE, /* likewise, in place of the one that is there */
	LANDING_INSTALL,
};

#define LANDING_STATE_MAX 256

/** A new state of the caller's, in the arena; `ret_expires_at` (may be NULL): as the API shows
 * times. Suspends. */
const char *landing_state_new(struct request *rq, enum landing landing,
                              const char **ret_expires_at);

/** For which of two landings a state of the caller's is. Raises ERR_INVALID, naming `state`: it is
 * none of the last hour of the caller's, or was used. Suspends. */
enum landing landing_state_check(struct request *rq, const char *state, enum landing one,
                                 enum landing other);

/** As landing_state_check(), and use the state up: of several who do so at once, one does not get
 * ERR_INVALID. */
enum landing landing_state_take(struct request *rq, const char *state, enum landing one,
                                enum landing other);
