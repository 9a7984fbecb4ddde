/** The manifest of the app: what the code host is asked to make of it, in one form that a person
 * confirms ("Registering a GitHub App from a manifest" in GitHub's documentation). */
#pragma once

#include "app/installation.h"

#include <yyjson.h>

#define MANIFEST_NAME_MAX         34 /* characters, GitHub's limit */
#define MANIFEST_ORGANIZATION_MAX 39

/** What the app must be permitted, and the events that it must get: tables that end with {0} and
 * NULL. */
extern const struct permission MANIFEST_PERMISSIONS[];
extern const char *const MANIFEST_EVENTS[];

struct manifest {
	const char *name;         /* NULL: `expops HOST` */
	const char *organization; /* whose app it is; NULL: the person's own */
	bool is_public;           /* other owners can install it, too */
};

/** The manifest for PUBLIC_URL. Raises ERR_NOT_CONFIGURED: that is not set. */
yyjson_mut_val *manifest_json(struct request *rq, const struct manifest *manifest,
                              yyjson_mut_doc *doc);

/** Where a browser posts it, in the form field `manifest`. In the arena. */
const char *manifest_action(struct request *rq, const struct manifest *manifest, const char *state);

/** Whether the code host can send deliveries to a URL: not where its host is an address that is not
 * public, or a name that only a local network knows. */
bool manifest_url_is_reachable(struct arena *arena, const char *url);

/** A check of an input row (input.h): the login of an organisation. */
bool manifest_organization_check(const char *text, size_t length, const char **ret_message);
