// usage: sign_standard_webhook.mjs SECRET ID TIME < BODY   prints the field webhook-signature, made by the package standardwebhooks
import { readFileSync } from "node:fs";
import { Webhook } from "standardwebhooks";

const [secret, id, time] = process.argv.slice(2);
console.log(new Webhook(secret).sign(id, new Date(1000 * Number(time)), readFileSync(0, "utf8")));
