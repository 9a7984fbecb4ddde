#include "indexing/training_plan.h"

static bool is_resized(const struct embedder_state *state)
{
	double papers = state->papers;
	double before = state->checked_papers;
	return papers >= TRAINING_MIN_DOCS &&
	       (papers >= before * TRAINING_GROWTH || papers * TRAINING_GROWTH <= before);
}

static bool is_due(const struct training_plan *plan, const struct embedder_state *state,
                   uint64_t max_age_ms)
{
	if (state->change == plan->tried_change)
		return false;
	if (!state->version[0] || state->recipe < TRAINING_RECIPE)
		return state->papers >= TRAINING_MIN_DOCS;
	return is_resized(state) ||
	       (state->change != state->checked_change && state->age_ms >= max_age_ms);
}

static void note_due(struct training_plan *plan, const struct embedder_state *state,
                     uint64_t now_ms)
{
	plan->due_since_ms = now_ms;
	plan->due_change = state->change;
	plan->checked_change = state->checked_change;
}

/* Whether a version that is due has waited long enough for a corpus that does not come to rest. */
static bool is_patience_over(struct training_plan *plan, const struct embedder_state *state,
                             bool was_due, uint64_t now_ms)
{
	bool has_begun = !was_due || state->checked_change != plan->checked_change;
	if (has_begun)
		note_due(plan, state, now_ms);
	if (has_begun || state->papers >= plan->papers * TRAINING_IMPORT_GROWTH) {
		plan->papers = state->papers;
		plan->grown_at_ms = now_ms;
	}
	return now_ms - plan->grown_at_ms >= TRAINING_PATIENCE_MS ||
	       now_ms - plan->due_since_ms >= TRAINING_IMPORT_PATIENCE_MS;
}

enum training_step training_plan_step(struct training_plan *plan,
                                      const struct embedder_state *state, uint64_t index_change,
                                      uint64_t max_age_ms, uint64_t now_ms)
{
	bool was_due = plan->is_due;
	if (state->change != plan->change) {
		plan->change = state->change;
		plan->changed_at_ms = now_ms;
	}
	plan->is_due = is_due(plan, state, max_age_ms);
	if (!plan->is_due)
		return TRAINING_NOT_DUE;
	bool is_over =
		is_patience_over(plan, state, was_due, now_ms) && index_change >= plan->due_change;
	bool is_at_rest =
		now_ms - plan->changed_at_ms >= TRAINING_REST_MS && index_change >= state->change;
	return is_at_rest || is_over ? TRAINING_NOW : TRAINING_WAIT;
}
