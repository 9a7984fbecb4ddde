/** Short time slices for threads that somebody waits for. */
#pragma once

/** Ask the scheduler for slices of half a millisecond for this thread, where the usual ones are of
 * one to three. It gets no larger part of a processor, but runs sooner when it wakes while threads
 * of other work have all processors. Needs no privilege; has no effect before Linux 6.12, or where
 * it is not allowed. Threads that this one starts inherit it. */
void short_slice_ask(void);
