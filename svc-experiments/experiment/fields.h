/** The input of experiments and projects as tables of fields (input/input.h). They check request
 * bodies and the files of the command `seed`. */
#pragma once

#include "input/input.h"

/** Members that an experiment can be created with. */
extern const struct field EXPERIMENT_CREATE_FIELDS[];

/** Input of an update: the path (struct experiment_path) and the members that can be changed. */
extern const struct field EXPERIMENT_UPDATE_FIELDS[];

/** Members that a project can be created with. */
extern const struct field PROJECT_CREATE_FIELDS[];

/** What a project has besides, which nobody writes: rows of a table. */
#define PROJECT_READ_ONLY_FIELDS                                                  \
	READ_ONLY("id"), READ_ONLY("experiments_count"), READ_ONLY("created_at"), \
		READ_ONLY("updated_at")

/** Values of the member `status`; ends with NULL. */
extern const char *const EXPERIMENT_STATUSES[];

/** The path parameter of one experiment. */
struct experiment_path {
	const char *id; /* UUID text */
};
