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
// The validators of whole files, by file.
const compiled = {};
for (const file of files) {
  const [, draft] = file.split(path.sep);
  const ajv = make(draft);
  if (!ajv.validateSchema(read(schemas, file))) faults.push(`${file}: ${ajv.errorsText()}`);
  // Only what a root reaches is compiled; the definitions of a bundle follow below.
  compiled[file] = ajv.compile(read(schemas, file));
}

/** A validator for each definition of a bundle. */
const definitions = (draft, word, ...file) => {
  const ajv = make(draft);
  const document = read(schemas, ...file);
  ajv.addSchema(document);
  const compile = (name) => [name, ajv.compile({ $ref: `${document.$id}#/${word}/${name}` })];
  return Object.fromEntries(Object.keys(document[word]).map(compile));
};

let judged = 0;
/** Holds every vector against the files of one revision, draft and flavour that have its definition. */
const replay = (revision, list, draft, word, flavour) => {
  const fault = (file, vector, text) => faults.push(`${revision} ${draft} ${flavour} ${file} ${vector}: ${text}`);
  const folder = [revision, draft, flavour];
  const bundle = definitions(draft, word, ...folder, "bundle.schema.json");
  const small = definitions(draft, word, ...folder, "tasks.schema.json");
  // Definitions of the small bundle: what it has to refuse some vector of, and what it did refuse one of.
  const [refusable, refused] = [new Set(), new Set()];
  for (const { id, definition, message, ...verdicts } of list) {
    const found = bundle[definition](message);
    // What may be written, generated code has to read; beyond that the codegen flavour promises nothing.
    const wanted = flavour === "codegen" ? verdicts.strict || found : verdicts[flavour];
    if (found !== wanted) fault("bundle", id, `should be ${wanted}`);
    judged += 1;
    const single = compiled[path.join(...folder, "messages", `${definition}.schema.json`)];
    if (single) {
      if (single(message) !== wanted) fault("messages", id, `should be ${wanted}`);
      judged += 1;
    }
    if (small[definition]) {
      // Core shapes are open there: it takes all that the others take, and may take more.
      const takes = small[definition](message);
      if (wanted && !takes) fault("tasks", id, `should be ${wanted}`);
      if (!wanted) refusable.add(definition);
      if (!takes) refused.add(definition);
      judged += 1;
    }
  }
  for (const name of refusable) if (!refused.has(name)) fault("tasks", name, "no vector of it is refused");
};
for (const revision of fs.readdirSync(vectors).filter((name) => /^\d/.test(name))) {
  const list = read(vectors, revision, "messages.json").vectors;
  for (const [draft, [, word]] of Object.entries(drafts)) {
    for (const flavour of ["strict", "tolerant", "codegen"]) replay(revision, list, draft, word, flavour);
  }
}
console.log(`ajv: ${files.length} schemas, ${judged} verdicts`);
if (faults.length) {
  console.error([...faults.slice(0, 40), `${faults.length} faults`].join("\n"));
  process.exit(1);
}
