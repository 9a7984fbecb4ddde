/** The brief: one Markdown document with everything that a coding agent needs to implement an
 * experiment.
 *
 * Sections without content are left out. But when there is no plan, no repository or no container
 * of the paper, the brief says so and what the agent is to do instead. Texts by the experiment's
 * author (task, plan) are Markdown; their headings are lowered below those of the brief
 * (markdown.h). Texts from papers are quoted (and base/outside_text.h), and the brief asks the
 * agent not to follow instructions in them.
 */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/** A method of the paper with its description, or an environment variable with its value. */
struct brief_pair {
	const char *name;
	const char *text; /* NULL: none */
};

/** The content of a brief. Borrows. A text that is NULL or blank is not known. */
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

	/* A workflow has started the agent: it commits, opens the pull request and reports, so the
	 * brief asks the agent to do none of that. */
	bool is_in_workflow;

	const char *const *missing; /* sentences: what could not be fetched, and why */
	size_t missing_count;
};

/** Write the document. In the arena. */
char *brief_markdown(struct arena *arena, const struct brief *brief);
