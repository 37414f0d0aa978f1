// Measures the definitions of a folder in a new process: node check-definitions.mjs WAY FOLDER, where WAY is
// `parse` (JSON.parse alone) or `check` (loading the generated validators, parsing, checking). Prints milliseconds.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [, , way, folder = "."] = process.argv;
const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
const begun = performance.now();
if (way === "check") {
  const { tool } = await import("../../src/extension-schema/generated/definition-validators.js");
  for (const text of texts) if (!tool(JSON.parse(text))) throw new Error(JSON.stringify(tool.errors));
} else {
  for (const text of texts) JSON.parse(text);
}
process.stdout.write(String(performance.now() - begun));
