/** Several threads that work on one loop at a time. */
#pragma once

#include <stddef.h>

struct parallel;

/** Does the elements `first` to `end` - 1 of a loop. */
typedef void parallel_cb(size_t first, size_t end, void *ctx);

/** Start `threads` - 1 threads; fewer when the system allows no more. With `threads` 1 there are
 * none, and loops run on the caller's thread. */
struct parallel *parallel_new(int threads);

/** End the threads. */
void parallel_free(struct parallel *parallel);

/** Call `cb` for all of `count` elements, a range of them on each thread and one on this thread,
 * and wait until all are done. */
void parallel_run(struct parallel *parallel, size_t count, parallel_cb *cb, void *ctx);
