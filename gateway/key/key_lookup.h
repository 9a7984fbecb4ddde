/** Keys and sessions as the database has them now. */
#pragma once

#include "base/config.h"
#include "crypto/crypto.h"
#include "key/key_cache.h"
#include "loop/request.h"

/** IDENTITY_PERSON. */
extern const struct setting KEY_LOOKUP_SETTINGS[];

/** Find the valid key, or session, with the hash; false: there is none. Requests that ask at the
 * same time share a statement (pg/batch.h). Suspends. The strings of *ret_key are in the request's
 * arena. Raises as pg_query(). */
bool key_lookup(struct request *rq, bool is_session, const uint8_t *hash,
                struct cached_key *ret_key);

/** As key_lookup(), of many by one statement: the element of a hash is NULL where no key is valid.
 */
struct cached_key **key_lookup_all(struct request *rq, bool is_session,
                                   const uint8_t (*hashes)[SHA256_LEN], size_t count);
