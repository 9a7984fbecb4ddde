/** An attempt by e-mail. */
#pragma once

#include "notify/attempt.h"

/** Send the message as a mail through the mail server of the settings. What the server says is the
 * answer; the address is in no log. Suspends. */
void attempt_email(struct request *rq, const struct sending *sending, struct outcome *outcome);
