/** The side of node_program.py: answers questions, each a line of JSON on the standard input, by a line of JSON on the standard
 * output. */
import { createInterface } from "node:readline";

export async function answerQuestions(answer) {
  for await (const line of createInterface({ input: process.stdin })) {
    let reply;
    try {
      reply = { value: await answer(JSON.parse(line)) };
    } catch (error) {
      reply = { error: error.stack };
    }
    console.log(JSON.stringify(reply));
  }
}
