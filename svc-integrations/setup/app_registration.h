/** Making the app at the code host by one form, showing it, and forgetting it. The app belongs
 * to the whole service, so these operations are the operator's (scope service:any_user). */
#pragma once

#include "registration/registration.h"

#include <yyjson.h>

/** POST /github/app/manifest: the form to post, and its state. */
void app_manifest_create(struct request *rq);

/** POST /github/app/created: take the app that the code host has made. */
void app_create(struct request *rq);

/** GET /github/app: which app there is, and what it lacks. */
void app_get(struct request *rq);

/** DELETE /github/app: forget the app that was made here. */
void app_delete(struct request *rq);

struct manifest; /* manifest.h */

/** The answer of POST /github/app/manifest, with a new state of the caller's. Raises
 * ERR_APP_EXISTS: the settings name an app, or one is registered and `replaces` is false.
 * Suspends. */
yyjson_mut_val *app_registration_form(struct request *rq, const struct manifest *manifest,
                                      bool replaces, yyjson_mut_doc *doc);

/** Exchange the code for the app and store it. When this process ends between the two, the code is
 * used, and nothing is stored: the person removes the app at the code host and begins again. When
 * the code host does not answer, code and state can be sent again. Raises ERR_INVALID, naming
 * `code` or `state`; ERR_APP_EXISTS, as above. Suspends. */
const struct registration *app_registration_take(struct request *rq, const char *code,
                                                 const char *state);

/** Where the app is installed, with a new state of the caller's. Suspends. */
const char *app_registration_install_url(struct request *rq, const char *html_url);
