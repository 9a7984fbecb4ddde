/** Verifies webhooks with the package standardwebhooks. Standard input has one JSON object a line, {"secret", "headers",
 * "body"}; prints for each `ok`, or why it is refused. */
import { createInterface } from "node:readline";
import { Webhook } from "standardwebhooks";

for await (const line of createInterface({ input: process.stdin })) {
  const { secret, headers, body } = JSON.parse(line);
  try {
    new Webhook(secret).verify(body, headers);
    console.log("ok");
  } catch (error) {
    console.log(error.message);
  }
}
