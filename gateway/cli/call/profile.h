/** Profiles: where the service is and with which key, in ~/.config/expops/config.json (or below
 * XDG_CONFIG_HOME), which only its user can read:
 *
 *     {"default": "work", "profiles": {"work": {"url": "https://expops.example.org", "key": "usr_..."}}}
 *
 * EXPOPS_URL, EXPOPS_KEY and EXPOPS_CA_FILE win. A key of the file is sent to the address beside it
 * and nowhere else: who sets another EXPOPS_URL has to set EXPOPS_KEY, too. */
#pragma once

#include "program/cli.h"

#include <stdbool.h>

struct profile {
	const char *name; /* NULL: of the environment alone */
	const char *url;  /* without a slash at its end */
	const char *key;
	const char *ca_file; /* certificates of authorities, PEM; NULL: those of the system */
};

/** The profile to use, read once. Fails when there is no address or no key. */
const struct profile *profile_get(struct cli *cli);

/** The name of the profile that --profile, EXPOPS_PROFILE or the file chooses. Never NULL. */
const char *profile_name(struct cli *cli);

/** The profile of this name in the file; false: there is none. */
bool profile_read(struct cli *cli, const char *name, struct profile *ret_profile);

/** Store a profile, and make it the default one. A reader finds the old file or the new one. */
void profile_write(struct cli *cli, const struct profile *profile);

/** Remove a profile, or make it the default one. False: there is none of this name. */
bool profile_remove(struct cli *cli, const char *name);
bool profile_choose(struct cli *cli, const char *name);

/** The names in the file, in its order; ends with NULL. */
const char **profile_names(struct cli *cli);

/** The file. In the arena. */
const char *profile_path(struct cli *cli);

/** An address as profiles have it: a URL of http or https, without a slash at its end. Fails. */
const char *profile_url(struct cli *cli, const char *text);

/** A key goes into a header: fails for anything but visible ASCII, which could end that. */
void profile_key_check(const char *key);
