// For `node --import`: lets the conformance suite run on Node 20, whose `fs` has no globSync. Only a command of the suite that
// tests do not use calls it.
import { register } from 'node:module';

const HOOK = `
import fs from 'node:fs';
const STUB = 'export * from "node:fs"; export { default } from "node:fs"; export const globSync = () => [];';
export async function resolve(specifier, context, next) {
  const isSuite = specifier === 'fs' && context.parentURL?.includes('/conformance/dist/');
  if (!isSuite || fs.globSync) return next(specifier, context);
  return { url: 'data:text/javascript,' + encodeURIComponent(STUB), shortCircuit: true };
}
`;

register(`data:text/javascript,${encodeURIComponent(HOOK)}`);
