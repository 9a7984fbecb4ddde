/** The spec of a template:
 *
 *     {"image": "registry/name@sha256:…",      or "containerfile": "FROM scratch\n…", and not both
 *      "command": "run --fast",                or ["run", "--fast"]
 *      "env": {"SEED": "1"},
 *      "resources": {"cpus": 2, "memory_mb": 4096, "pids": 200, "network": true,
 *                    "timeout_seconds": 600},
 *      "metrics": ["accuracy"],                or [{"name": "accuracy", "goal": "maximize", "unit": "%"}]
 *      "dataset": "s3://…"}                    or an object
 *
 * Only image or containerfile is required. Other members are kept.
 */
#pragma once

#include "json/problem.h"

#include <yyjson.h>

#include <stdbool.h>
#include <stddef.h>

#define SPEC_METRICS_MAX 100

/** For the `check` of a field: whether a text can name an image. Container programs get it as an
 * argument, so that one with a dash in front would be an option to them. */
bool image_name_check(const char *text, size_t length, const char **ret_message);

/** Add each fault of a spec to the problem, with the field `spec.…`. `spec` is an object. */
void spec_check(struct arena *arena, struct problem *problem, yyjson_val *spec);
