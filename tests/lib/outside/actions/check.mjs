/** Prints what the code host's own parser has against the workflow file on the standard input: one line for each fault. It
 * checks the form by the code host's schema, the syntax of expressions, and which contexts and functions each may use.
 *
 * usage: node check.mjs <FILE */
import { readFileSync } from "node:fs";
import { register } from "node:module";

// The parser imports its schema without saying that it is JSON, which only bundlers take.
const HOOK = `export async function resolve(name, context, next) {
  const found = await next(name, context);
  return found.url.endsWith(".json") ? { ...found, importAttributes: { type: "json" } } : found;
}`;
register(`data:text/javascript,${encodeURIComponent(HOOK)}`);

const { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } = await import("@actions/workflow-parser");

const file = { name: "workflow.yml", content: readFileSync(0, "utf8") };
const { context, value } = parseWorkflow(file, new NoOperationTraceWriter());
const errors = context.errors.getErrors();
if (value && errors.length === 0) {
  const template = await convertWorkflowTemplate(context, value);
  errors.push(...context.errors.getErrors(), ...(template.errors ?? []).map(({ Message }) => ({ message: Message })));
}
for (const { message } of errors) console.log(message);
