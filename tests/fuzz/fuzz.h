/** The entry point of a fuzz target: one parser of untrusted bytes, run on arbitrary input. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** Run the parser on `size` bytes at `data`; abort if a result is wrong. libFuzzer calls this with
 * generated inputs, replay.c with stored ones. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
