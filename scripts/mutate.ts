// npm run mutate -- [FILE…]: changes pure code in every way that StrykerJS knows, and shows what the tests of its folder miss.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { pureFolders } from "../vitest.mutate.config.ts";

const files = process.argv.slice(2);
const program = fileURLToPath(
  new URL("../node_modules/@stryker-mutator/core/bin/stryker.js", import.meta.url),
);

for (const folder of pureFolders) {
  const own = files.filter((file) => file.startsWith(`src/${folder}/`));
  if (files.length > 0 && own.length === 0) continue;
  const mutated = own.length > 0 ? own : [`src/${folder}/**/*.ts`, "!src/**/generated/**"];
  const env = { ...process.env, MUTATED_FOLDER: folder };
  const { status } = spawnSync(process.execPath, [program, "run", "--mutate", mutated.join()], {
    env,
    stdio: "inherit",
  });
  if (status !== 0) process.exitCode = 1;
}
