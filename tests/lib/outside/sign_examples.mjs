/** Prints the example deliveries of @octokit/webhooks-examples as JSON: [{event, body, signature}], each signed by
 * @octokit/webhooks-methods with the secret given as argument. */
import { createRequire } from "node:module";

import { sign } from "@octokit/webhooks-methods";

const EXAMPLES = createRequire(import.meta.url)("@octokit/webhooks-examples");
const secret = process.argv[2];

const signed = [];
for (const { name, examples } of EXAMPLES) {
  for (const example of examples) {
    const body = JSON.stringify(example);
    signed.push({ event: name, body, signature: await sign(secret, body) });
  }
}
process.stdout.write(JSON.stringify(signed));
