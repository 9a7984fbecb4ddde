/** Commands on the user's own access: profiles and the key. */
#pragma once

#include "command/command.h"

/** `login`: ask for the address and the key, try them, and store them. */
void login_run(struct cli *cli, const struct arguments *arguments);
void logout_run(struct cli *cli, const struct arguments *arguments);

/** `profiles`, `profile NAME`. */
void profiles_run(struct cli *cli, const struct arguments *arguments);
void profile_run(struct cli *cli, const struct arguments *arguments);

/** `whoami`: the address, and what the service knows of the key. */
void whoami_run(struct cli *cli, const struct arguments *arguments);
extern const struct view WHOAMI_VIEW;
