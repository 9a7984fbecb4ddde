#include "repository/repository.h"

#include "app/access.h"
#include "app/app_jwt.h"
#include "connection/token.h"

#include <stdarg.h>
#include <string.h>

static struct repository_name name_read(struct request *rq, const char *repo)
{
	struct repository_name name = repository_name_read(rq, "repo", repo);
	if (!app_is_configured(rq))
		raise_error(rq, ERR_NOT_CONFIGURED, "the code-host app is not configured");
	return name;
}

struct repository repository_open(struct request *rq, const char *repo,
                                  const struct permission *permissions)
{
	struct repository_name name = name_read(rq, repo);
	access_require(rq, &name);
	return repository_open_checked(rq, &name, permissions);
}

struct repository repository_open_anew(struct request *rq, const char *repo,
                                       const struct permission *permissions)
{
	struct repository_name name = name_read(rq, repo);
	access_require_anew(rq, &name);
	return repository_open_checked(rq, &name, permissions);
}

static bool has_write(const struct permission *permissions)
{
	for (; permissions->name; permissions++)
		if (strcmp(permissions->level, "write") == 0)
			return true;
	return false;
}

struct repository repository_open_checked(struct request *rq, const struct repository_name *name,
                                          const struct permission *permissions)
{
	if (name->obstacle && has_write(permissions))
		raise_error(rq, ERR_CONFLICT, "%s, then try again", name->obstacle);
	struct repository repository;
	repository.auth = installation_auth(rq, name, permissions, &repository.full_name);
	return repository;
}

const char *repository_key(struct request *rq, const struct repository *repository)
{
	return arena_lower(rq->arena, repository->full_name);
}

struct code_host_answer repository_call(struct request *rq, const struct repository *repository,
                                        const char *method, yyjson_mut_val *body,
                                        const char *path_format, ...)
{
	va_list args;
	va_start(args, path_format);
	const char *below = arena_vprintf(rq->arena, path_format, args);
	va_end(args);
	const char *path = arena_printf(rq->arena, "/repos/%s%s", repository->full_name, below);
	return code_host_call(rq, &repository->auth, method, path, body);
}

attr_noreturn void repository_refuse(struct request *rq, const struct code_host_answer *answer,
                                     const char *missing)
{
	if (answer->status == 404)
		raise_error(rq, ERR_NOT_FOUND, "%s", missing);
	if (answer->status == 401)
		connection_refused(rq, "code_host");
	raise_error(rq, ERR_CONFLICT, "the code host refuses it: %s", code_host_reason(rq, answer));
}
