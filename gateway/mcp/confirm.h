/** Asking the user before start_run starts a run, which costs money.
 *
 * A modern client that can ask (it declares `elicitation`) gets `input_required` and calls again
 * with the user's answer and the `requestState` that it was given:
 *
 *     base64url(nonce, 16 bytes | end, 8 bytes, Unix seconds | HMAC-SHA-256)
 *
 * The HMAC is over nonce, end, key id and the arguments, so that the answer to one question starts
 * nothing else. Its key is made once in the gateway's schema, so that every replica accepts it. The
 * nonce is the operation's Idempotency-Key: an answer that is sent twice starts one run.
 *
 * Every other client must call again with the argument `confirm`, as the answer says. Such a call
 * that comes again within 10 minutes, as clients repeat one whose answer was lost, starts no second
 * run: it has the same Idempotency-Key, which a table of the gateway's keeps. Calling without
 * `confirm` in between asks the user anew, so what they agree to then is another run. Both
 * questions say so when the same run was confirmed within 10 minutes: its start may be under way,
 * or its outcome unknown.
 */
#pragma once

#include "mcp/tool.h"

/** Whether the run is confirmed. False: the result is a question or that nothing was started, or
 * the call has failed: RPC_INVALID_PARAMS a wrong or old requestState; RPC_INTERNAL the key of the
 * HMAC cannot be read. */
bool confirm_run(struct tool_call *t);
