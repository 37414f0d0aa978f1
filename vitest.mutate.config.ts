import { defineConfig } from "vitest/config";

/** Those that AGENTS.md marks, and checking values against schemas, which is as pure. */
export const pureFolders = [
  "data",
  "expressions",
  "extension-schema",
  "json-schema",
  "problems",
  "qualified-names",
];

const { MUTATED_FOLDER = `{${pureFolders.join()}}` } = process.env;

/** The tests that have to notice changes of a pure folder: its own. `npm run mutate` names it. */
export default defineConfig({
  test: { include: [`test/${MUTATED_FOLDER}/**/*.test.ts`], isolate: false, testTimeout: 120_000 },
});
