#!/usr/bin/env node
import { main } from "./main.ts";

// The exit code is set, not forced, so that everything written reaches a pipe before the process ends.
main(process.argv.slice(2)).then((exitCode) => {
  process.exitCode = exitCode;
});
