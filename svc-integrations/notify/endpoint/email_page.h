/** The pages behind the links of mails, for people without a key: confirming an address, and
 * ending the mails. GET shows a page with a button and changes nothing, because mail programs fetch
 * links; the button's POST acts. So does the POST that mail programs send by themselves when
 * somebody unsubscribes (RFC 8058), whatever its body: the token says it all. */
#pragma once

#include "loop/request.h"

/** GET, POST /webhooks/confirm/{token} */
void email_confirm_page(struct request *rq);
void email_confirm(struct request *rq);

/** GET, POST /webhooks/unsubscribe/{token} */
void email_unsubscribe_page(struct request *rq);
void email_unsubscribe(struct request *rq);
