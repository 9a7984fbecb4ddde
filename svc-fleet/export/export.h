/** svc-fleet/export/: runs as files, for when they are not kept any more (retention/retention.h).
 *
 * `svc-fleet export --before 2026-01-01 --to DIR` writes a file for each day (UTC) before the first
 * of January on which runs were first heard of, `runs-2025-12-31.1.jsonl.gz`: gzip, a run a line,
 * in the order of their ids:
 *
 *     {"id": "0197…", "account_id": "0197…", "first_at": "…", "changed_at": "…",
 *      "run": {…}, "attempts": …, "deliverable": {…}}
 *
 * `run` is what GET /fleet/runs shows with all its members, the details included as long as they
 * are kept. `deliverable` is what the run opened and what had become of it when the file was
 * written.
 *
 * A store has a file whole or not at all: a folder gets it under another name, which is changed
 * once all of it is on the disk, and S3 makes an object visible when its request has ended. A
 * file that is there is never written again. What was written of a day is a row of `run_export`:
 * it is made before, once the store is known not to have the file, with the time until which
 * changes of runs are in the file, and completed after. So a process may be killed anywhere; the
 * next begins the unfinished file anew, or notes that the store has it. When a run has changed
 * since, the next call writes the day once more as `runs-2025-12-31.2.jsonl.gz`, with all its
 * runs that are still there. All files of a day belong together: for each run its newest line
 * counts, the one in the file with the highest number, and its details are those of the newest
 * line that has them.
 *
 * Memory does not grow with the day: pages of rows are compressed into the file.
 */
#pragma once

#include "base/config.h"

#include <stdbool.h>

struct process;

/** EXPORT_REQUIRED and those of S3. */
extern const struct setting EXPORT_SETTINGS[];

/** Whether runs are only deleted once they are exported. */
extern bool export_is_required;

/** Checks EXPORT_S3_URL: ERR_INVALID, after one line on standard error. */
enum err_code export_settings_check(void);

/** `svc-fleet export`. Returns the exit status. */
int export_command(struct process *process, int argc, char **argv);
