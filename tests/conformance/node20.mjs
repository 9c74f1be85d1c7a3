// Loaded before the suite on a Node that has no `fs.globSync` yet (before 22): the suite imports that name for a command
// that is not used here. It gets all of `fs`, and a `globSync` that says what is missing.
import { register } from 'node:module';

const STAND_IN = 'stand-in:fs';
const SOURCE = `
export * from 'node:fs';
export { default } from 'node:fs';
export function globSync() { throw new Error('this Node has no fs.globSync'); }
`;
const HOOKS = `
export function resolve(name, context, next) {
  const fromSuite = context.parentURL?.includes('@modelcontextprotocol/conformance');
  return fromSuite && name === 'fs' ? { url: '${STAND_IN}', shortCircuit: true } : next(name, context);
}
export function load(url, context, next) {
  return url === '${STAND_IN}'
    ? { format: 'module', source: ${JSON.stringify(SOURCE)}, shortCircuit: true }
    : next(url, context);
}
`;

register(`data:text/javascript,${encodeURIComponent(HOOKS)}`);
