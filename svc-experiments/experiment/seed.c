#include "experiment/seed.h"

#include "base/terminal.h"
#include "experiment/fields.h"
#include "input/field_check.h"
#include "input/input.h"
#include "json/json.h"
#include "json/json_file.h"
#include "main/arguments.h"
#include "main/command_run.h"
#include "pg/pg.h"
#include "seed.sql.h"

#include <stdio.h>
#include <string.h>

#define FILE_MAX_BYTES (64 << 20)

/* The arguments of the command. */
struct seed {
	const char *file;
	const char *account; /* UUID text */
};

/* A member that an experiment can have in the file, but not in the API. */
static const struct field SEED_EXPERIMENT[] = {
	JSON_TEXT("project", NULLABLE, 1, 200),
	FIELD_END,
};

/* Check each object in the array `list` of the file against a table. */
static void check_items(struct request *rq, yyjson_val *root, const char *list,
                        const struct field *fields)
{
	const struct field rows[] = {
		{IN_BODY, FIELD_ARRAY, list, FIELD_NOWHERE, OPTIONAL, .bytes_max = SIZE_MAX,
	         .members = fields},
		FIELD_END,
	};
	field_check_members(rq->arena, &rq->problem, root, rows);
}

/* Print a line for each fault, and end the command if there is any. */
static void print_faults(struct request *rq, const char *path)
{
	for (const struct problem_field *f = rq->problem.fields; f; f = f->next)
		fprintf(stderr, "%s: %s %s\n", path, terminal_text(rq->arena, f->field),
		        terminal_text(rq->arena, f->message));
	if (rq->problem.field_count)
		raise_error(rq, ERR_INVALID, "%s: nothing was loaded", path);
}

/* JSON text of the members of `item` that the table declares. */
static const char *declared_json(struct request *rq, yyjson_val *item, const struct field *fields)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *kept = yyjson_mut_obj(doc);
	for (const struct field *field = fields; field->source != FIELD_END_OF_TABLE; field++) {
		yyjson_val *value = json_get(item, field->name);
		if (value && field->source == IN_BODY)
			yyjson_mut_obj_add_val(doc, kept, field->name,
			                       yyjson_val_mut_copy(doc, value));
	}
	return json_write_mut(rq->arena, kept, NULL);
}

static int seed_projects(struct request *rq, const struct seed *seed, yyjson_val *projects)
{
	int created = 0;
	size_t index, count;
	yyjson_val *project;
	yyjson_arr_foreach (projects, index, count, project) {
		struct pg_rows *rows =
			pg_query(rq, SEED_PROJECT_SQL, pg_text(seed->account),
		                 pg_text(declared_json(rq, project, PROJECT_CREATE_FIELDS)));
		created += rows->count;
	}
	return created;
}

/* The id of the project that the experiment names; NULL: it names none. */
static const char *project_of(struct request *rq, const struct seed *seed, yyjson_val *experiment)
{
	const char *name = json_get_text(experiment, "project");
	if (!name)
		return NULL;
	struct pg_rows *rows =
		pg_query(rq, SEED_PROJECT_FIND_SQL, pg_text(seed->account), pg_text(name));
	if (pg_empty(rows))
		raise_error(rq, ERR_INVALID, "%s: there is no project \"%s\"", seed->file, name);
	return pg_value(rows, 0);
}

static int seed_experiments(struct request *rq, const struct seed *seed, yyjson_val *experiments)
{
	int created = 0;
	size_t index, count;
	yyjson_val *experiment;
	yyjson_arr_foreach (experiments, index, count, experiment) {
		struct pg_rows *rows =
			pg_query(rq, SEED_EXPERIMENT_SQL, pg_text(seed->account),
		                 pg_text(declared_json(rq, experiment, EXPERIMENT_CREATE_FIELDS)),
		                 pg_text(project_of(rq, seed, experiment)));
		created += rows->count;
	}
	return created;
}

static void load(struct request *rq)
{
	const struct seed *seed = rq->user;
	yyjson_val *root;
	const char *why;
	if (json_file_read(rq->arena, seed->file, FILE_MAX_BYTES, &root, &why))
		raise_error(rq, ERR_INVALID, "%s: %s", seed->file, why);
	if (!yyjson_is_obj(root))
		raise_error(rq, ERR_INVALID, "%s: is not a JSON object", seed->file);
	check_items(rq, root, "projects", PROJECT_CREATE_FIELDS);
	check_items(rq, root, "experiments", EXPERIMENT_CREATE_FIELDS);
	check_items(rq, root, "experiments", SEED_EXPERIMENT);
	print_faults(rq, seed->file);
	pg_begin(rq);
	pg_query(rq, SEED_LOCK_SQL, pg_text(seed->account));
	int projects = seed_projects(rq, seed, json_get(root, "projects"));
	int experiments = seed_experiments(rq, seed, json_get(root, "experiments"));
	pg_commit(rq);
	printf("created %d projects and %d experiments\n", projects, experiments);
}

int seed_command(struct process *process, int argc, char **argv)
{
	static const struct argument ARGUMENTS[] = {
		ARGUMENT_TEXT(struct seed, account, "user"),
		ARGUMENT_END,
	};
	struct seed seed = {0};
	struct uuid account;
	char **operands = arguments_read(argc, argv, ARGUMENTS, &seed);
	if (!operands || !operands[0] || operands[1] || !seed.account ||
	    !uuid_parse(seed.account, strlen(seed.account), &account))
		return COMMAND_USAGE;
	seed.file = operands[0];
	return command_run(process, load, &seed);
}
