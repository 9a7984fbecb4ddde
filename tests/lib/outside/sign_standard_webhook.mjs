/** Prints the field webhook-signature of the body on standard input, made by the package standardwebhooks.
 * usage: sign_standard_webhook.mjs SECRET ID TIME < BODY */
import { readFileSync } from "node:fs";
import { Webhook } from "standardwebhooks";

const [secret, id, time] = process.argv.slice(2);
console.log(new Webhook(secret).sign(id, new Date(1000 * Number(time)), readFileSync(0, "utf8")));
