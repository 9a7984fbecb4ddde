#include "template/spec.h"

#include "base/base.h"
#include "json/json.h"

#include <math.h>
#include <string.h>

#define ENV_MAX         200
#define COMMAND_MAX     200
#define NAME_MAX_BYTES  200
#define IMAGE_MAX_BYTES 1024

/* What a check needs: where faults go. */
struct check {
	struct arena *arena;
	struct problem *problem;
};

static void fault(struct check *c, const char *field, const char *message)
{
	problem_add_field(c->arena, c->problem, field, "%s", message);
}

static bool is_text(yyjson_val *value, size_t max_bytes)
{
	size_t length = yyjson_get_len(value);
	return yyjson_is_str(value) && length > 0 && length <= max_bytes;
}

bool image_name_check(const char *text, size_t length, const char **ret_message)
{
	*ret_message = "must not begin with a dash or have white space";
	return text[0] != '-' && strcspn(text, " \t\r\n") == length;
}

static void check_source(struct check *c, yyjson_val *spec)
{
	const char *message;
	yyjson_val *image = yyjson_obj_get(spec, "image");
	yyjson_val *containerfile = yyjson_obj_get(spec, "containerfile");
	if (image && !is_text(image, IMAGE_MAX_BYTES))
		fault(c, "spec.image", "must be a string of 1 to 1024 bytes");
	if (yyjson_is_str(image) &&
	    !image_name_check(yyjson_get_str(image), yyjson_get_len(image), &message))
		fault(c, "spec.image", message);
	if (containerfile && !is_text(containerfile, SIZE_MAX))
		fault(c, "spec.containerfile", "must be a string that is not empty");
	if (!image == !containerfile)
		fault(c, "spec", "must have either an image or a containerfile");
}

static void check_command(struct check *c, yyjson_val *command)
{
	size_t index, count;
	yyjson_val *word;
	if (!command || is_text(command, SIZE_MAX))
		return;
	if (!yyjson_is_arr(command) || yyjson_arr_size(command) == 0 ||
	    yyjson_arr_size(command) > COMMAND_MAX) {
		fault(c, "spec.command", "must be a string, or an array of 1 to 200 strings");
		return;
	}
	yyjson_arr_foreach (command, index, count, word)
		if (!yyjson_is_str(word))
			problem_add_field(c->arena, c->problem, "spec.command",
			                  "item %zu must be a string", index);
}

/* A name of an environment variable as POSIX has it (IEEE 1003.1, section 8.1), in either case. */
static bool is_variable(const char *name)
{
	static const char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
	static const char OTHERS[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
	return *name && strchr(LETTERS, *name) && !name[strspn(name, OTHERS)];
}

static void check_env(struct check *c, yyjson_val *env)
{
	size_t index, count;
	yyjson_val *name, *value;
	if (!env)
		return;
	if (!yyjson_is_obj(env) || yyjson_obj_size(env) > ENV_MAX) {
		fault(c, "spec.env", "must be an object of at most 200 members");
		return;
	}
	json_obj_foreach (env, index, count, name, value) {
		if (!is_variable(yyjson_get_str(name)))
			problem_add_field(c->arena, c->problem, "spec.env",
			                  "%s is not the name of a variable", yyjson_get_str(name));
		else if (!yyjson_is_str(value))
			problem_add_field(c->arena, c->problem, "spec.env", "%s must be a string",
			                  yyjson_get_str(name));
	}
}

static void check_metric_object(struct check *c, size_t index, yyjson_val *metric)
{
	const char *goal = json_get_text(metric, "goal");
	yyjson_val *unit = yyjson_obj_get(metric, "unit");
	if (yyjson_obj_get(metric, "goal") &&
	    (!goal || (strcmp(goal, "maximize") != 0 && strcmp(goal, "minimize") != 0)))
		problem_add_field(c->arena, c->problem, "spec.metrics",
		                  "the goal of item %zu must be maximize or minimize", index);
	if (unit && !yyjson_is_str(unit))
		problem_add_field(c->arena, c->problem, "spec.metrics",
		                  "the unit of item %zu must be a string", index);
}

static yyjson_val *name_of(yyjson_val *metric)
{
	return yyjson_is_obj(metric) ? yyjson_obj_get(metric, "name") : metric;
}

static bool is_named_before(yyjson_val *metrics, size_t end, yyjson_val *name)
{
	for (size_t i = 0; i < end; i++)
		if (yyjson_equals(name_of(yyjson_arr_get(metrics, i)), name))
			return true;
	return false;
}

static void check_metrics(struct check *c, yyjson_val *metrics)
{
	size_t index, count;
	yyjson_val *metric;
	if (!metrics)
		return;
	if (!yyjson_is_arr(metrics) || yyjson_arr_size(metrics) > SPEC_METRICS_MAX) {
		fault(c, "spec.metrics", "must be an array of at most 100 items");
		return;
	}
	yyjson_arr_foreach (metrics, index, count, metric) {
		if (!is_text(name_of(metric), NAME_MAX_BYTES))
			problem_add_field(c->arena, c->problem, "spec.metrics",
			                  "item %zu must be a name, or an object with a name",
			                  index);
		else if (is_named_before(metrics, index, name_of(metric)))
			problem_add_field(c->arena, c->problem, "spec.metrics",
			                  "item %zu is there twice", index);
		if (yyjson_is_obj(metric))
			check_metric_object(c, index, metric);
	}
}

/* What a worker applies to a run. */
static const struct resource {
	const char *name;
	double min, max; /* both 0: true or false */
	bool is_whole;
} RESOURCES[] = {
	{"cpus", 0.01, 1024, false},          {"memory_mb", 16, 1 << 24, true},
	{"pids", 1, 4194304, true},           {"network", 0, 0, false},
	{"timeout_seconds", 1, 604800, true},
};

static const struct resource *find_resource(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(RESOURCES); i++)
		if (strcmp(RESOURCES[i].name, name) == 0)
			return &RESOURCES[i];
	return NULL;
}

static void check_resource(struct check *c, const char *name, yyjson_val *value)
{
	const char *field = arena_printf(c->arena, "spec.resources.%s", name);
	const struct resource *resource = find_resource(name);
	double number = yyjson_get_num(value);
	if (resource && resource->is_whole)
		json_spell_whole(value);
	if (!resource) {
		fault(c, field,
		      "is none of cpus, memory_mb, pids, network and timeout_seconds, which can "
		      "be applied");
	} else if (resource->max == 0) {
		if (!yyjson_is_bool(value))
			fault(c, field, "must be true or false");
	} else if (!yyjson_is_num(value) || number < resource->min || number > resource->max ||
	           (resource->is_whole && number != floor(number))) {
		problem_add_field(c->arena, c->problem, field, "must be %s from %g to %.0f",
		                  resource->is_whole ? "an integer" : "a number", resource->min,
		                  resource->max);
	}
}

static void check_resources(struct check *c, yyjson_val *resources)
{
	size_t index, count;
	yyjson_val *name, *value;
	if (resources && !yyjson_is_obj(resources))
		fault(c, "spec.resources", "must be an object");
	json_obj_foreach (resources, index, count, name, value)
		check_resource(c, yyjson_get_str(name), value);
}

void spec_check(struct arena *arena, struct problem *problem, yyjson_val *spec)
{
	struct check c = {arena, problem};
	yyjson_val *dataset = yyjson_obj_get(spec, "dataset");
	check_source(&c, spec);
	check_command(&c, yyjson_obj_get(spec, "command"));
	check_env(&c, yyjson_obj_get(spec, "env"));
	check_resources(&c, yyjson_obj_get(spec, "resources"));
	check_metrics(&c, yyjson_obj_get(spec, "metrics"));
	if (dataset && !yyjson_is_str(dataset) && !yyjson_is_obj(dataset))
		fault(&c, "spec.dataset", "must be a string or an object");
}
