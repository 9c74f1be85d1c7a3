// Compiles the exported schemas with ajv in strict mode, and holds every vector against them.

import fs from "node:fs";
import path from "node:path";
import Ajv from "ajv";
import Ajv2020 from "ajv/dist/2020.js";
import formats from "ajv-formats";

const [schemas, vectors] = process.argv.slice(2);
const read = (...parts) => JSON.parse(fs.readFileSync(path.join(...parts), "utf8"));
const drafts = { "2020-12": [Ajv2020.default ?? Ajv2020, "$defs"], "draft-07": [Ajv.default ?? Ajv, "definitions"] };
const make = (draft) => {
  const ajv = new drafts[draft][0]({ strict: true, allErrors: false });
  (formats.default ?? formats)(ajv);
  return ajv;
};
const files = fs.readdirSync(schemas, { recursive: true }).filter((name) => name.endsWith(".schema.json")).sort();
const faults = [];
for (const file of files) {
  const [, draft] = file.split(path.sep);
  const ajv = make(draft);
  if (!ajv.validateSchema(read(schemas, file))) faults.push(`${file}: ${ajv.errorsText()}`);
  // Only what a root reaches is compiled; the definitions of a bundle follow below.
  ajv.compile(read(schemas, file));
}
let judged = 0;
for (const revision of fs.readdirSync(vectors).filter((name) => /^\d/.test(name))) {
  const replay = read(vectors, revision, "messages.json");
  for (const [draft, [, word]] of Object.entries(drafts)) {
    for (const flavour of ["strict", "tolerant", "codegen"]) {
      const ajv = make(draft);
      const document = read(schemas, revision, draft, flavour, "bundle.schema.json");
      ajv.addSchema(document);
      const of = Object.fromEntries(
        Object.keys(document[word]).map((name) => [name, ajv.compile({ $ref: `${document.$id}#/${word}/${name}` })]),
      );
      for (const vector of replay.vectors) {
        judged += 1;
        // What may be written, generated code has to read; beyond that the codegen flavour promises nothing.
        const found = of[vector.definition](vector.message);
        const wanted = flavour === "codegen" ? vector.strict || found : vector[flavour];
        if (found !== wanted) faults.push(`${revision} ${draft} ${flavour} ${vector.id}: should be ${wanted}`);
      }
    }
  }
}
console.log(`ajv: ${files.length} schemas, ${judged} verdicts`);
if (faults.length) {
  console.error([...faults.slice(0, 40), `${faults.length} faults`].join("\n"));
  process.exit(1);
}
