// Measures the definitions of a folder in a new process: node check-definitions.mjs WAY FOLDER, where WAY is
// `parse` (JSON.parse alone) or the bundled shapes (loading them, parsing, checking). Prints milliseconds.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [, , way, folder = "."] = process.argv;
const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
const begun = performance.now();
if (way === "parse") {
  for (const text of texts) JSON.parse(text);
} else {
  const { schemaOf } = await import(way);
  for (const text of texts) schemaOf("tool").parse(JSON.parse(text));
}
process.stdout.write(String(performance.now() - begun));
