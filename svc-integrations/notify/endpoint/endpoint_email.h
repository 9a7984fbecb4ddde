/** Endpoints of the kind email: an endpoint has the address of a mail, and a token of its own for
 * the link that ends the mails. */
#pragma once

#include "loop/request.h"
#include "pg/pg.h"
#include "reply/resource.h"

/** Make one of the checked body, unconfirmed, and ask its address (email_confirmation.h). Raises
 * ERR_NOT_CONFIGURED: there is no mail server; and as the constraints say. */
struct pg_rows *endpoint_email_create(struct request *rq, const struct constraint *constraints,
                                      const char *id, int most);

/** Change one by the checked body, which has another address. This one has to confirm itself, and
 * gets another token: the links in the mails of the old address have lost their effect. */
struct pg_rows *endpoint_email_readdress(struct request *rq, const struct constraint *constraints,
                                         const char *id);
