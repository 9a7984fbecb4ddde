#include "command/repository.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEFAULT_HOST "github.com"
#define SUFFIX       ".git" /* of a clone address */

static attr_noreturn void git_exec(const char *folder, int output)
{
	dup2(output, STDOUT_FILENO);
	execlp("git", "git", "-C", folder, "remote", "get-url", "origin", (char *)NULL);
	_exit(127); /* as a shell: not found */
}

/* What git says of the origin of a checkout: its address. git itself says on standard error what is
 * wrong. */
static const char *origin_of(struct cli *cli, const char *folder)
{
	int ends[2], status;
	char text[2048];
	if (pipe(ends) < 0)
		cli_fail(EXIT_FAILED, "no pipe to git");
	pid_t child = fork();
	if (child == 0)
		git_exec(folder, ends[1]);
	close(ends[1]);
	ssize_t length = read(ends[0], text, sizeof(text) - 1);
	close(ends[0]);
	if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0 || length <= 0)
		cli_fail(EXIT_FAILED, "the origin of the checkout %s is not known", folder);
	text[length] = '\0';
	return arena_strndup(cli->arena, text, strcspn(text, "\n"));
}

/* `acme/ranker` is no folder, even where there is one. */
static bool is_folder(const char *text)
{
	return *text == '.' || *text == '/';
}

/* What an address is made of: `host` and `path`, without a user. */
struct address {
	const char *host;
	const char *path; /* owner/name */
};

/* `https://user:token@host/owner/name.git`, `ssh://git@host:22/owner/name`,
 * `git@host:owner/name`. */
static bool read_address(struct cli *cli, const char *text, struct address *ret_address)
{
	const char *scheme = strstr(text, "://"), *rest = scheme ? scheme + 3 : text;
	const char *user = strchr(rest, '@');
	size_t slash = strcspn(rest, scheme ? "/" : ":");
	if (user && (size_t)(user - rest) < slash) {
		slash -= (size_t)(user - rest) + 1;
		rest = user + 1;
	}
	if (rest[slash] == '\0')
		return false;
	ret_address->host =
		arena_strndup(cli->arena, rest, scheme ? MIN_OF(strcspn(rest, ":"), slash) : slash);
	ret_address->path = rest + slash + 1;
	return true;
}

/* owner/name of `owner/name.git` or `owner/name/`; NULL: it is none. */
static const char *name_of_path(struct cli *cli, const char *path)
{
	size_t owner = strcspn(path, "/"), name = path[owner] ? strcspn(path + owner + 1, "/") : 0;
	size_t suffix = strlen(SUFFIX);
	if (owner == 0 || name == 0)
		return NULL;
	if (name > suffix && strncmp(path + owner + 1 + name - suffix, SUFFIX, suffix) == 0)
		name -= suffix;
	return arena_strndup(cli->arena, path, owner + 1 + name);
}

static void read_repository(struct cli *cli, const char *text, struct address *ret_address)
{
	const char *address = is_folder(text) ? origin_of(cli, text) : text;
	bool is_name = !strstr(address, "://") && !strchr(address, ':');
	if (is_name)
		*ret_address = (struct address){DEFAULT_HOST, address};
	cli_check_text(cli, "the repository", address, strlen(address));
	if ((!is_name && !read_address(cli, address, ret_address)) ||
	    !(ret_address->path = name_of_path(cli, ret_address->path)))
		cli_fail(EXIT_USAGE,
		         "%s is no repository: owner/name, its address, or a folder of git", text);
}

const char *repository_name(struct cli *cli, const char *text)
{
	struct address address;
	read_repository(cli, text, &address);
	return address.path;
}

const char *repository_url(struct cli *cli, const char *text)
{
	struct address address;
	read_repository(cli, text, &address);
	return arena_printf(cli->arena, "https://%s/%s", address.host, address.path);
}
