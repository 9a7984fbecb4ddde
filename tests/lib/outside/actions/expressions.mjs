/** Evaluates the expressions of workflow files with the code host's own library. Questions and answers, a line each:
 *
 *     {"text": "run-${{ github.run_id }}", "contexts": {"github": {"run_id": "5"}}, "status": "success"}   {"value": "run-5"}
 *     {"text": "always()", "is_condition": true, ...}                                                      {"value": true}
 *
 * `status` is what the status functions look at: success, failure or cancelled. As at the code host, a condition without such
 * a function also asks for success. A context, a member of `github`, `env`, `inputs` or `runner`, or a step or job that does
 * not exist is an error, where the code host would evaluate to an empty text: {"error": "no github.event_nmae"}. */
import { data, Evaluator, Lexer, Parser } from "@actions/expressions";

import { answerQuestions } from "../answering.mjs";

const STRICT = new Set(["env", "github", "inputs", "needs", "runner", "steps"]);
const STATUS_FUNCTIONS = ["always", "cancelled", "failure", "success"];
const EXPRESSION = /\$\{\{((?:[^'}]|'[^']*'|\}(?!\}))*)\}\}/g;

class StrictDictionary extends data.Dictionary {
  constructor(name) {
    super();
    this.name = name;
  }

  get(key) {
    const value = super.get(key);
    if (value === undefined) throw new Error(`no ${this.name}.${key}`);
    return value;
  }
}

function toData(value, name) {
  if (value === null) return new data.Null();
  if (typeof value === "string") return new data.StringData(value);
  if (typeof value === "number") return new data.NumberData(value);
  if (typeof value === "boolean") return new data.BooleanData(value);
  const dictionary = STRICT.has(name) ? new StrictDictionary(name) : new data.Dictionary();
  for (const [key, member] of Object.entries(value)) dictionary.add(key, toData(member));
  return dictionary;
}

function statusFunctions(status) {
  const holds = (name) => () => new data.BooleanData(name === "always" || name === status);
  return new Map(STATUS_FUNCTIONS.map((name) => [name, { name, minArgs: 0, maxArgs: 0, call: holds(name) }]));
}

function evaluate(text, contexts, functions) {
  const dictionary = new data.Dictionary(
    ...Object.entries(contexts).map(([key, value]) => ({ key, value: toData(value, key) })),
  );
  const tree = new Parser(new Lexer(text).lex().tokens, Object.keys(contexts), [...functions.values()]).parse();
  return new Evaluator(tree, dictionary, functions).evaluate();
}

function isTrue(value) {
  return ![false, 0, "", null].includes(value.primitive ? value.value ?? null : true);
}

function condition(text, contexts, status) {
  const bare = /^\s*\$\{\{(.*)\}\}\s*$/s.exec(text)?.[1] ?? text;
  const hasStatus = STATUS_FUNCTIONS.some((name) => new RegExp(`\\b${name}\\s*\\(`).test(bare));
  return (hasStatus || status === "success") && isTrue(evaluate(bare, contexts, statusFunctions(status)));
}

function answer({ text, contexts, status, is_condition: isCondition }) {
  if (isCondition) return condition(text, contexts, status);
  return text.replace(EXPRESSION, (_, inner) => evaluate(inner, contexts, statusFunctions(status)).coerceString());
}

await answerQuestions(answer);
