#!/usr/bin/env node
import { main } from "./main.ts";

// Setting the exit code instead of exiting lets all output reach a pipe before the process ends.
main(process.argv.slice(2)).then((exitCode) => {
  process.exitCode = exitCode;
});
