#include "implementation/context.h"

#include "implementation/brief.h"
#include "json/json.h"

#include <string.h>

/* The two sources of details about the paper. */
struct sources {
	yyjson_val *launch;   /* the launch context, an object, may be empty */
	yyjson_val *resource; /* its member `resource`; NULL: it has none */
	yyjson_val *asset;    /* the paper in the search index; NULL: not available */
};

static const char *text_of(yyjson_val *object, const char *name)
{
	const char *text = json_get_text(object, name);
	return text && text[0] ? text : NULL;
}

/* A detail of the paper: from the index, or else from the launch context. */
static const char *paper_text(const struct sources *from, const char *name)
{
	const char *text = text_of(from->asset, name);
	return text ? text : text_of(from->resource, name);
}

static const char *paper_url(struct arena *arena, const struct sources *from, const char *arxiv_id)
{
	const char *url = paper_text(from, "url");
	if (url || !arxiv_id)
		return url;
	const char *doi = strchr(arxiv_id, ':'); /* of biorxiv:10.1101/2026.11.20.123456 */
	return doi ? arena_printf(arena, "https://doi.org/%s", doi + 1)
	           : arena_printf(arena, "https://arxiv.org/abs/%s", arxiv_id);
}

/* ["Tri Dao", "Christopher Ré"] becomes `Tri Dao, Christopher Ré`. */
static const char *join_texts(struct arena *arena, yyjson_val *texts)
{
	struct buf out = {.arena = arena};
	size_t index, count;
	yyjson_val *text;
	yyjson_arr_foreach (texts, index, count, text) {
		const char *word = yyjson_get_str(text);
		if (word)
			buf_printf(&out, "%s%s", out.length ? ", " : "", word);
	}
	return out.data;
}

static void add_methods(struct arena *arena, struct brief *brief, yyjson_val *methods)
{
	size_t index, count;
	yyjson_val *method;
	struct brief_pair *pairs = arena_array(arena, yyjson_arr_size(methods) + 1, sizeof(*pairs));
	yyjson_arr_foreach (methods, index, count, method) {
		pairs[index].name = text_of(method, "name");
		pairs[index].text = text_of(method, "description");
	}
	brief->methods = pairs;
	brief->method_count = yyjson_arr_size(methods);
}

static void add_environment(struct arena *arena, struct brief *brief, yyjson_val *variables)
{
	size_t index, count;
	yyjson_val *name, *value;
	struct brief_pair *pairs =
		arena_array(arena, yyjson_obj_size(variables) + 1, sizeof(*pairs));
	json_obj_foreach (variables, index, count, name, value) {
		pairs[index].name = yyjson_get_str(name);
		pairs[index].text = yyjson_is_str(value) ? yyjson_get_str(value)
		                                         : json_write(arena, value, NULL);
	}
	brief->environment = pairs;
	brief->environment_count = yyjson_obj_size(variables);
}

/* Use the index's container if it is ready. Otherwise use the image that the launch context names.
 * If it names none, use the index's container although it is not ready. */
static void add_container(struct arena *arena, struct brief *brief, const struct sources *from)
{
	const char *status = text_of(from->asset, "container_status");
	const char *named = text_of(from->launch, "container_image");
	bool is_indexed = status && strcmp(status, "none") != 0;
	if (!is_indexed || (named && strcmp(status, "ready") != 0)) {
		brief->image = named;
		return;
	}
	brief->image = text_of(from->asset, "container_image");
	brief->image_status = status;
	brief->containerfile = text_of(from->asset, "containerfile");
	brief->working_directory = text_of(from->asset, "working_directory");
	add_environment(arena, brief, json_get(from->asset, "environment_vars"));
}

static const char *code_repository(const struct sources *from)
{
	const char *code = text_of(from->launch, "code_repository");
	return code ? code : text_of(from->asset, "github_url");
}

static void brief_fill(struct arena *arena, struct brief *brief, yyjson_val *experiment,
                       const struct sources *from, const struct paper *paper)
{
	*brief = (struct brief){
		.experiment_id = json_get_text(experiment, "id"),
		.name = json_get_text(experiment, "name"),
		.hypothesis = text_of(experiment, "hypothesis"),
		.target_metric = text_of(experiment, "target_metric"),
		.task = text_of(from->launch, "task_description"),
		.plan = text_of(from->launch, "implementation_plan"),
		.target_repo = text_of(from->launch, "target_repo"),
		.base_branch = text_of(from->launch, "base_branch"),
		.arxiv_id = paper->arxiv_id,
		.title = paper_text(from, "title"),
		.url = paper_url(arena, from, paper->arxiv_id),
		.authors = join_texts(arena, json_get(from->asset, "authors")),
		.abstract = text_of(from->asset, "abstract"),
		.code_repository = code_repository(from),
		.missing = &paper->missing,
		.missing_count = paper->missing != NULL,
	};
	add_methods(arena, brief, json_get(from->launch, "key_methods"));
	add_container(arena, brief, from);
}

static void add_array(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name,
                      yyjson_val *items)
{
	yyjson_mut_val *copy = items ? yyjson_val_mut_copy(doc, items) : yyjson_mut_arr(doc);
	yyjson_mut_obj_add_val(doc, object, name, copy);
}

/* The member `resource`. */
static yyjson_mut_val *resource_json(yyjson_mut_doc *doc, const struct brief *brief,
                                     const struct sources *from)
{
	if (!brief->title && !brief->url)
		return yyjson_mut_null(doc);
	yyjson_mut_val *resource = yyjson_mut_obj(doc);
	json_add_text(doc, resource, "arxiv_id", brief->arxiv_id);
	json_add_text(doc, resource, "title", brief->title);
	json_add_text(doc, resource, "url", brief->url);
	json_add_text(doc, resource, "abstract", brief->abstract);
	add_array(doc, resource, "authors", json_get(from->asset, "authors"));
	add_array(doc, resource, "categories", json_get(from->asset, "categories"));
	json_add_text(doc, resource, "github_url", text_of(from->asset, "github_url"));
	return resource;
}

/* The member `container`. */
static yyjson_mut_val *container_json(yyjson_mut_doc *doc, const struct brief *brief)
{
	if (!brief->image && !brief->image_status)
		return yyjson_mut_null(doc);
	yyjson_mut_val *container = yyjson_mut_obj(doc);
	yyjson_mut_val *variables = yyjson_mut_obj(doc);
	json_add_text(doc, container, "image", brief->image);
	json_add_text(doc, container, "status", brief->image_status);
	json_add_text(doc, container, "containerfile", brief->containerfile);
	json_add_text(doc, container, "working_directory", brief->working_directory);
	for (size_t i = 0; i < brief->environment_count; i++)
		json_add_text(doc, variables, brief->environment[i].name,
		              brief->environment[i].text);
	yyjson_mut_obj_add_val(doc, container, "environment_vars", variables);
	return container;
}

yyjson_mut_doc *context_build(struct arena *arena, const struct context_source *source,
                              const struct paper *paper)
{
	yyjson_val *launch = json_get(source->experiment, "launch_context");
	struct sources from = {launch, json_get(launch, "resource"), paper->asset};
	struct brief brief;
	brief_fill(arena, &brief, source->experiment, &from, paper);
	yyjson_mut_doc *doc = json_doc_new(arena);
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, root);
	yyjson_mut_obj_add_val(doc, root, "experiment", yyjson_mut_raw(doc, source->detail_json));
	yyjson_mut_obj_add_val(doc, root, "resource", resource_json(doc, &brief, &from));
	yyjson_mut_obj_add_val(doc, root, "container", container_json(doc, &brief));
	json_add_text(doc, root, "task_description", brief.task);
	json_add_text(doc, root, "implementation_plan", brief.plan);
	json_add_text(doc, root, "formatted", brief_markdown(arena, &brief));
	yyjson_mut_val *missing = yyjson_mut_arr(doc);
	for (size_t i = 0; i < brief.missing_count; i++)
		yyjson_mut_arr_add_str(doc, missing, brief.missing[i]);
	yyjson_mut_obj_add_val(doc, root, "missing", missing);
	return doc;
}

const char *context_brief(struct arena *arena, const struct context_source *source,
                          const struct paper *paper)
{
	yyjson_val *launch = json_get(source->experiment, "launch_context");
	struct sources from = {launch, json_get(launch, "resource"), paper->asset};
	struct brief brief;
	brief_fill(arena, &brief, source->experiment, &from, paper);
	brief.is_in_workflow = true;
	return brief_markdown(arena, &brief);
}
