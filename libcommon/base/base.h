/** libcommon/base/: what every part of the project uses and what needs no event loop: memory
 * (arena.h), errors (error.h), settings (config.h), times (timefmt.h), UTF-8 (utf8.h), text from
 * outside (outside_text.h) and addresses (address.h, ip.h, url.h). This header has attributes,
 * small macros and require(). */
#pragma once

#include <stddef.h>

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

/** The struct of type `type` that contains `*ptr` as its member `member`. */
#define CONTAINER_OF(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

#define MIN_OF(a, b) ((a) < (b) ? (a) : (b))
#define MAX_OF(a, b) ((a) > (b) ? (a) : (b))

#define attr_noreturn      __attribute__((noreturn))
#define attr_printf(f, a)  __attribute__((format(printf, f, a)))
#define attr_nonnull(...)  __attribute__((nonnull(__VA_ARGS__)))
#define attr_unused        __attribute__((unused))
#define attr_must_use      __attribute__((warn_unused_result))
#define attr_cleanup(func) __attribute__((cleanup(func)))

/** Abort, in every build, if `condition` is false. Only for bugs: whatever input, clients or other
 * servers can cause is an error (error.h). */
#define require(condition) \
	((condition) ? (void)0 : require_failed(#condition, __FILE__, __LINE__, __func__))

attr_noreturn void require_failed(const char *condition, const char *file, int line,
                                  const char *func);
