#include "redis/fault.h"

#include "base/base.h"

#include <string.h>

#define MASTERDOWN "MASTERDOWN "
#define READONLY   "READONLY "

/* First the faults that no reply names, then the first words of error replies. */
static const struct fault FAULTS[] = {
	[REDIS_FAULT_UNREACHABLE] = {"", ERR_UNAVAILABLE, "the message store is unavailable",
                                     "Redis cannot be reached"},
	[REDIS_FAULT_LOST] = {"", ERR_UNAVAILABLE, "the message store is unavailable",
                              "the connection to Redis was lost"},
	[REDIS_FAULT_SILENT] = {"", ERR_UNAVAILABLE, "the message store does not answer",
                                "Redis does not answer"},
	[REDIS_FAULT_UNVERIFIED] = {"", ERR_UNAVAILABLE, "the message store is unavailable",
                                    "the certificate of Redis is refused"},
	[REDIS_FAULT_REFUSED] = {"", ERR_UNAVAILABLE, "the message store is unavailable",
                                 "Redis refuses the connection"},

	{"BUSY ", ERR_UNAVAILABLE, "the message store is busy", "Redis is busy with a script"},
	{"CLUSTERDOWN ", ERR_UNAVAILABLE, "the message store is unavailable",
         "the Redis cluster is down"},
	{"LOADING ", ERR_UNAVAILABLE, "the message store is starting", "Redis is loading its data"},
	{MASTERDOWN, ERR_UNAVAILABLE, "the message store is unavailable",
         "Redis is a replica without its master"},
	{"MISCONF ", ERR_UNAVAILABLE, "the message store cannot save data",
         "Redis cannot write to its disk"},
	{"NOAUTH ", ERR_UNAVAILABLE, "the message store refuses the login of this service",
         "Redis requires a password, and REDIS_URL has none"},
	{"NOREPLICAS ", ERR_UNAVAILABLE, "the message store is unavailable",
         "Redis lacks replicas for a write"},
	{"OOM ", ERR_UNAVAILABLE, "the message store is full", "Redis is out of memory: maxmemory"},
	{READONLY, ERR_UNAVAILABLE, "the message store is read-only at present",
         "Redis is a read-only replica"},
	{"WRONGPASS ", ERR_UNAVAILABLE, "the message store refuses the login of this service",
         "Redis refuses the login in REDIS_URL"},
};

static struct fault_count counts[ARRAY_LEN(FAULTS)];

static const struct fault_table TABLE = {LOG_GROUP, FAULTS, counts, ARRAY_LEN(FAULTS)};

const struct fault *redis_fault(enum redis_fault_kind kind)
{
	return &FAULTS[kind];
}

/* Redis before 7 reports what failed in a script as
 * `ERR Error running script (call to f_…): @user_script:1: -OOM command not allowed …`. */
static const char *innermost(const char *error)
{
	static const char SCRIPT_FAILED[] = "ERR Error running script", INNER[] = ": -";
	bool is_script = strncmp(error, SCRIPT_FAILED, strlen(SCRIPT_FAILED)) == 0;
	const char *inner = is_script ? strstr(error, INNER) : NULL;
	return inner ? inner + strlen(INNER) : error;
}

const struct fault *redis_fault_of(const char *error)
{
	return fault_find(&TABLE, innermost(error));
}

bool redis_fault_is_of_replica(const char *error)
{
	const char *inner = innermost(error);
	return strncmp(inner, READONLY, strlen(READONLY)) == 0 ||
	       strncmp(inner, MASTERDOWN, strlen(MASTERDOWN)) == 0;
}

void redis_fault_report(const struct fault *fault, const char *reason)
{
	fault_report(&TABLE, fault, NULL, reason);
}

void redis_faults_recent(void (*cb)(void *context, const char *summary), void *context)
{
	for (size_t i = 0; i < TABLE.count; i++) {
		if (fault_is_recent(&TABLE, i))
			cb(context, FAULTS[i].summary);
	}
}
