// Runs one of the commands about registries as `trailblaze` would. Its arguments: the command and its own.
import { run as add } from "../../src/cli/commands/add.ts";
import { run as remove } from "../../src/cli/commands/remove.ts";
import { run as search } from "../../src/cli/commands/search.ts";
import { output } from "../../src/cli/output.ts";
import { TrailblazeError } from "../../src/problems/index.ts";

const [name = "", ...positionals] = process.argv.slice(2);
const run = { add, remove, search }[name];
try {
  const answer = await run?.({ positionals, options: {}, cwd: process.cwd() });
  output.json(answer?.json);
} catch (error) {
  if (!(error instanceof TrailblazeError)) throw error;
  output.json({ error: error.problem });
}
