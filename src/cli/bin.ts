#!/usr/bin/env node
import { main } from "./main.ts";
import { output } from "./output.ts";

// Node 22.8 and later keep compiled code in the system's temporary folder, unless NODE_DISABLE_COMPILE_CACHE is set.
if (!process.version.startsWith("v20.")) {
  const nodeModule: object & { enableCompileCache?(): void } = process.getBuiltinModule("node:module");
  nodeModule.enableCompileCache?.();
}

main(process.argv.slice(2)).then(async (exitCode) => {
  await output.drained();
  // Does not wait for what code of packs, or a connection that is kept open, would still keep the process alive for.
  process.exit(exitCode);
});
