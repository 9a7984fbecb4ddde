#include "webhook/revert.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define BUTTON     "Reverts "
#define COMMIT     "This reverts commit "
#define COMMIT_LEN 40 /* digits of a SHA-1 */
#define NUMBER_LEN 15 /* digits of a number that JavaScript reads without loss */

static void add(yyjson_mut_doc *doc, yyjson_mut_val *reverts, const char *target, const char *by)
{
	if (yyjson_mut_arr_size(reverts) >= REVERTS_MAX)
		return;
	yyjson_mut_val *revert = yyjson_mut_arr_add_obj(doc, reverts);
	yyjson_mut_obj_add_strcpy(doc, revert, "target", target);
	yyjson_mut_obj_add_strcpy(doc, revert, "by", by);
}

/* `acme/ranker#7` or `#7`, and nothing behind it in its line. */
static bool read_pull_request(const char *text, const char *repo, char target[NUMBER_LEN + 2])
{
	size_t name = strcspn(text, "# \t\r\n");
	bool is_own = name == 0 || (name == strlen(repo) && strncasecmp(text, repo, name) == 0);
	size_t digits = text[name] == '#' ? strspn(text + name + 1, "0123456789") : 0;
	if (!is_own || digits == 0 || digits > NUMBER_LEN || text[name + 1] == '0')
		return false;
	const char *end = text + name + 1 + digits;
	end += strspn(end, " \t\r");
	if (*end && *end != '\n')
		return false;
	snprintf(target, NUMBER_LEN + 2, "%.*s", (int)digits + 1, text + name);
	return true;
}

static bool read_commit(const char *text, char target[COMMIT_LEN + 1])
{
	if (strspn(text, "0123456789abcdef") != COMMIT_LEN)
		return false;
	memcpy(target, text, COMMIT_LEN);
	target[COMMIT_LEN] = '\0';
	return true;
}

static bool begins(const char *line, const char *words)
{
	return strncmp(line, words, strlen(words)) == 0;
}

bool revert_is_title(const char *title)
{
	return title && (begins(title, "Revert \"") || begins(title, "Reapply \""));
}

void reverts_add(yyjson_mut_doc *doc, yyjson_mut_val *reverts, const char *text, bool is_of_git,
                 const char *repo, const char *by)
{
	char pull_request[NUMBER_LEN + 2], commit[COMMIT_LEN + 1];
	for (const char *line = text; line && *line;) {
		line += strspn(line, " \t\r\n");
		if (begins(line, BUTTON) &&
		    read_pull_request(line + strlen(BUTTON), repo, pull_request))
			add(doc, reverts, pull_request, by);
		else if (is_of_git && begins(line, COMMIT) &&
		         read_commit(line + strlen(COMMIT), commit))
			add(doc, reverts, commit, by);
		line += strcspn(line, "\n");
	}
}
