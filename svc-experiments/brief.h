/** The brief: one Markdown document from which a coding agent can implement an experiment without
 * asking back.
 *
 * It is made of what is known; what is not leaves no empty heading, and what an agent would look for
 * in vain (plan, repository, the paper's container) is said not to be there. Words of the
 * experiment's author (task, plan) go in as the Markdown that they are, under the brief's headings
 * (markdown.h). Text from papers is quoted, and said to be, so that an agent does not take it for
 * orders.
 */
#pragma once

#include "base/arena.h"

#include <stddef.h>

/** A name and what is said of it: a method of the paper, or a variable of the environment. */
struct brief_pair {
	const char *name;
	const char *text; /* NULL: nothing */
};

/** What a brief is made of. Borrows. NULL and "" are the same in every text: not known. */
struct brief {
	const char *experiment_id; /* required */
	const char *name;          /* required */
	const char *hypothesis;
	const char *target_metric;
	const char *task; /* Markdown */
	const char *plan; /* Markdown */

	const char *target_repo; /* `owner/name` */
	const char *base_branch;

	const char *arxiv_id;
	const char *title;
	const char *url;
	const char *authors; /* `Tri Dao, Daniel Y. Fu` */
	const char *abstract;
	const struct brief_pair *methods;
	size_t method_count;

	const char *code_repository; /* the authors' code */
	const char *image;
	const char *image_status; /* `ready` */
	const char *containerfile;
	const char *working_directory;
	const struct brief_pair *environment;
	size_t environment_count;

	const char *const *missing; /* sentences: what could not be had, and why */
	size_t missing_count;
};

/** The document, in the arena. */
char *brief_markdown(struct arena *arena, const struct brief *brief);
