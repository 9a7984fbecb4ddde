/** A fuzz target: one reader of outside bytes, given any bytes at all. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** Read `size` bytes at `data`, and abort where the reader breaks its contract. libFuzzer calls it
 * with what it makes up, replay.c with the inputs that are kept. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
