#!/usr/bin/env node
import { main } from "./main.ts";
import { output } from "./output.ts";

// Node 22.8 and later keep compiled code in the system's temporary folder, unless NODE_DISABLE_COMPILE_CACHE is set.
if (!process.version.startsWith("v20.")) {
  const nodeModule: object & { enableCompileCache?(): void } = process.getBuiltinModule("node:module");
  nodeModule.enableCompileCache?.();
}

// What a command does not catch ends it by an exit, which removes temporary folders.
const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };
for (const [signal, exitCode] of Object.entries(exitCodes))
  process.on(signal, () => process.listenerCount(signal) === 1 && process.exit(exitCode));

main(process.argv.slice(2)).then(async (exitCode) => {
  await output.drained();
  // Does not wait for what code of packs, or a connection that is kept open, would still keep the process alive for.
  process.exit(exitCode);
});
