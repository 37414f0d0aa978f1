// A process that runs a pack's handler in a child and waits for it, for tests of what outlives it.
import { createProcessRunner } from "../../src/runtime/process-runner.ts";
import { createContext, inModule } from "./run-place.ts";

const root = process.argv[2] ?? "";
await createProcessRunner({ root, env: {} }).call(inModule(root, "./a.mjs#a"), {}, createContext());
