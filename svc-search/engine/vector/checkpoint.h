/** The state of a training as a file, so that a process that is killed goes on where it was.
 *
 * The file has a header with the digest of everything that the training depends on
 * (training_fingerprint()), the term vectors, the sums of squared gradients, and in the header a
 * CRC-32 of both. It is replaced atomically. A file that is missing, damaged, or of another
 * training is refused. Numbers are in the byte order of the machine. On a processor with other
 * vector instructions the last bits of the result can differ. */
#pragma once

#include "engine/vector/contrastive.h"

/** Write the state to `path`. Returns false with errno set. */
bool checkpoint_save(const char *path, const uint8_t fingerprint[SAMPLE_FINGERPRINT_BYTES],
                     const struct contrastive_state *state);

/** Read a state of this training, for `term_count` terms; the caller ends it with
 * contrastive_end(). Returns false when the file is refused. */
bool checkpoint_load(const char *path, const uint8_t fingerprint[SAMPLE_FINGERPRINT_BYTES],
                     uint32_t term_count, struct contrastive_state *ret_state);
