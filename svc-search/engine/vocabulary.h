/** The terms of all parts of a view. */
#pragma once

#include "engine/view.h"

/** Number of living documents that contain the term; 0: the term is unknown. */
uint32_t vocabulary_df(const struct engine_view *view, const char *text, size_t length);
