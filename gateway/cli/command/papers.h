/** Commands on papers and recommendations that are more than an operation and a view. */
#pragma once

#include "command/command.h"

/** `digest`: of all interests, or the recommendations of one. */
void digest_run(struct cli *cli, const struct arguments *arguments);

/** `like N`, `dislike N`, `save N`: the name of the command is the signal. */
void feedback_run(struct cli *cli, const struct arguments *arguments);
