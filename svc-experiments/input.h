/** What experiments and projects may be given, declared: for bodies of the API and for files of
 * seeds. */
#pragma once

#include "service/input.h"

/** What an experiment is made of: `name`, and all else that can be said at its creation. */
extern const struct field EXPERIMENT_CREATE_FIELDS[];

/** What can be changed of it; first, its id in the path (struct experiment_input). */
extern const struct field EXPERIMENT_UPDATE_FIELDS[];

/** What a project is made of. */
extern const struct field PROJECT_CREATE_FIELDS[];

/** The statuses, for the filter of the list. */
extern const char *const EXPERIMENT_STATUSES[];

/** Path of one experiment. */
struct experiment_input {
	const char *id;
};
