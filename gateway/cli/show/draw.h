/** Answers that are neither a table nor a record: the digest, the report, an explanation, the
 * results of an experiment and the brief for an agent. */
#pragma once

#include "program/cli.h"

#include <yyjson.h>

void draw_digest(struct cli *cli, yyjson_val *answer);
void draw_recommendations(struct cli *cli, yyjson_val *answer);
void draw_explanation(struct cli *cli, yyjson_val *answer);
void draw_report(struct cli *cli, yyjson_val *answer);
void draw_results(struct cli *cli, yyjson_val *answer);
void draw_context(struct cli *cli, yyjson_val *answer);
