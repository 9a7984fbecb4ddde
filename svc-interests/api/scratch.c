#include "api/scratch.h"

static void scratch_free(void *arena)
{
	arena_free(arena);
}

struct arena *scratch_new(struct request *rq)
{
	struct arena *arena = arena_new();
	arena_on_free(rq->arena, scratch_free, arena);
	return arena;
}
