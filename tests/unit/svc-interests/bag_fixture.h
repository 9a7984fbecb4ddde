/** Bags of words for the tests of preference models. */
#pragma once

#include "arena_fixture.h"
#include "paper/bag.h"

/** The bag of a paper; in the arena of the test. */
static inline struct bag *bag_of_paper(const struct paper_text *paper)
{
	return bag_new(arena, word_splitter_new(arena), paper);
}

static inline struct bag *bag_of(const char *title, const char *abstract)
{
	return bag_of_paper(&(struct paper_text){.title = title, .abstract = abstract});
}
