#include "observe/fault.h"

#include "base/timefmt.h"

#include <stdatomic.h>
#include <string.h>

const struct fault *fault_find(const struct fault_table *table, const char *server_code)
{
	const struct fault *found = NULL;
	size_t longest = 0;
	for (size_t i = 0; i < table->count; i++) {
		const struct fault *row = &table->rows[i];
		size_t length = strlen(row->match);
		if (length > longest && strncmp(server_code, row->match, length) == 0) {
			longest = length;
			found = row;
		}
	}
	return found;
}

/* One thread gets the right to write the line. */
static bool may_log(struct fault_count *count, uint64_t now_ms)
{
	uint64_t next_ms = count->log_next_ms;
	return now_ms >= next_ms &&
	       atomic_compare_exchange_strong(&count->log_next_ms, &next_ms, now_ms + FAULT_LOG_MS);
}

void fault_report(const struct fault_table *table, const struct fault *fault,
                  const char *server_code, const char *reason)
{
	if (!fault->summary)
		return;
	struct fault_count *count = &table->counts[fault - table->rows];
	uint64_t now_ms = time_monotonic_ms();
	count->seen_ms = now_ms;
	count->unlogged++;
	if (may_log(count, now_ms))
		log_event(table->group, LOG_WARN, fault->summary, f_text("error_code", server_code),
		          f_text("reason", reason),
		          f_int("count", atomic_exchange(&count->unlogged, 0)));
}

bool fault_is_recent(const struct fault_table *table, size_t row)
{
	uint64_t seen_ms = table->counts[row].seen_ms;
	return seen_ms && time_monotonic_ms() - seen_ms < FAULT_RECENT_MS;
}
