// Decodes every vector with what quicktype made for TypeScript, and prints which it took.
//
//     node decode.mjs TYPES VECTORS < NAMES

import fs from "node:fs";
import { createRequire } from "node:module";

const [types, vectors] = process.argv.slice(2);
const { Convert } = createRequire(import.meta.url)(types);
const decoders = Object.fromEntries(
  Object.entries(JSON.parse(fs.readFileSync(0, "utf8"))).map(([definition, name]) => [definition, decoder(name)]),
);

function decoder(name) {
  const decode = Convert[`to${name}`];
  if (typeof decode !== "function") throw new Error(`no Convert.to${name}`);
  return decode;
}

function takes(decode, message) {
  try {
    decode(JSON.stringify(message));
    return true;
  } catch {
    return false;
  }
}

const verdicts = {};
for (const { id, definition, message } of JSON.parse(fs.readFileSync(vectors, "utf8")).vectors) {
  if (definition in decoders) verdicts[id] = takes(decoders[definition], message);
}
console.log(JSON.stringify(verdicts));
