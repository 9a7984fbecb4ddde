/** The steps of provisioning, in their order. Internal to this folder. */
#pragma once

#include "base/arena.h"

/** The names of the steps, in their order, as a JSON array. */
const char *provision_step_names(struct arena *arena);
