#include "engine/engine.h"
#include "engine/internal.h"
#include "engine/text/cancel.h"
#include "engine/text/mem.h"

struct engine_adoption {
	struct engine_view *view; /* when it was opened */
	struct model *model;
	struct part **parts; /* by part of `view`, with vectors of the model, once it has run */
};

/* The part with vectors of another model. */
static struct part *embed_part(const struct part *part, const struct model *model,
                               const atomic_bool *cancel)
{
	struct vectors *vectors = vectors_make(model->embedder, part->segment, NULL, cancel);
	struct part *made = part_new(segment_ref(part->segment), vectors,
	                             model_make_ivf(model, vectors, NULL, cancel));
	made->mapping = mapping_ref(part->mapping);
	return made;
}

struct engine_adoption *engine_adoption_new(struct engine *engine, struct embedder *embedder)
{
	struct engine_adoption *adoption = mem_array(1, sizeof(*adoption));
	require(!engine->merge && !engine->adoption && !engine->view->model->external);
	adoption->view = engine_view_get(engine);
	adoption->model = model_new(NULL, embedder);
	adoption->parts = mem_array(adoption->view->part_count, sizeof(*adoption->parts));
	engine->adoption = adoption;
	return adoption;
}

bool engine_adoption_run(struct engine_adoption *adoption, const atomic_bool *cancel)
{
	for (size_t i = 0; i < adoption->view->part_count && !is_cancelled(cancel); i++)
		adoption->parts[i] =
			embed_part(adoption->view->parts[i].part, adoption->model, cancel);
	return !is_cancelled(cancel);
}

/* The part with vectors of the model; made now if the part was added after the adoption was
 * opened. */
static struct part *adopted_part(const struct engine_adoption *adoption, const struct part *part)
{
	for (size_t i = 0; i < adoption->view->part_count; i++)
		if (adoption->view->parts[i].part == part)
			return part_ref(adoption->parts[i]);
	return embed_part(part, adoption->model, NULL);
}

void engine_adoption_commit(struct engine *engine, struct engine_adoption *adoption)
{
	const struct engine_view *view = engine->view;
	struct view_part *parts = mem_array(view->part_count, sizeof(*parts));
	require(engine->adoption == adoption);
	for (size_t i = 0; i < view->part_count; i++) {
		parts[i].part = adopted_part(adoption, view->parts[i].part);
		parts[i].deaths = deaths_ref(view->parts[i].deaths);
	}
	engine_publish(engine, view_new(adoption->model, parts, view->part_count, view->progress));
	engine_adoption_cancel(engine, adoption);
	engine_collect(engine);
}

void engine_adoption_cancel(struct engine *engine, struct engine_adoption *adoption)
{
	if (!adoption)
		return;
	engine->adoption = NULL;
	for (size_t i = 0; i < adoption->view->part_count; i++)
		if (adoption->parts[i])
			part_unref(adoption->parts[i]);
	free(adoption->parts);
	model_unref(adoption->model);
	view_unref(adoption->view);
	free(adoption);
}
