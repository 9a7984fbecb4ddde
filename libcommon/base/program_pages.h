/** The memory pages of the program and of its shared libraries.
 *
 * Start-up reads the symbol tables of all libraries and runs code that is not needed again. Such
 * pages are two thirds of the RSS of a process at rest. */
#pragma once

/** Unmap the pages of code and constants. A page that is used again is mapped again from its file:
 * without a read from disk as long as the kernel has it in its page cache, which is now free to
 * drop it. So RSS falls at once, and memory of the machine is free when the kernel needs it.
 *
 * A mapping with a page that was written stays as it is: by relocations, or by a debugger or a
 * probe that put a breakpoint there. So do files that are not of the program. Threads may run
 * meanwhile. Reads /proc/self/smaps, which takes a millisecond, and 25 for each GB of other files
 * that is mapped and was used. Without /proc nothing is done. */
void program_pages_release(void);
