#!/usr/bin/env node
import { main } from "./main.ts";
import { output } from "./output.ts";

main(process.argv.slice(2)).then(async (exitCode) => {
  await output.drained();
  // Does not wait for what code of packs, or a connection that is kept open, would still keep the process alive for.
  process.exit(exitCode);
});
