// A process that runs a pack's handler in a child and waits for it, for tests of what outlives it.
import { createProcessRunner } from "../../src/runtime/process-runner.ts";
import { callCode, createContext, inModule } from "./run-place.ts";

const root = process.argv[2] ?? "";
await callCode(createProcessRunner({ root, env: {} }), inModule("./a.mjs#a"), {}, createContext());
