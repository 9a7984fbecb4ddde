/** libcommon/product/: words of the product that several services read: agents and models
 * (agent_pair.h), the workflow of an agent (agent_workflow.h), addresses of repositories
 * (repository_url.h). This header has names of branches and tags in the input of a handler. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** Whether git takes the text as the name of a branch or tag (git-check-ref-format(1)), and no
 * program can read it as an option; the `check` of an input row. */
bool ref_name_check(const char *text, size_t length, const char **ret_message);
