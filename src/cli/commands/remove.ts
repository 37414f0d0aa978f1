import { removePacks } from "../../npm/remove-packs.ts";
import { printable } from "../../problems/index.ts";
import type { CommandAnswer, CommandInput } from "../command.ts";
import { output } from "../output.ts";
import { withInterruption } from "../remote/ask.ts";

export async function run({ positionals, cwd }: CommandInput): Promise<CommandAnswer> {
  const { removed } = await withInterruption((signal) =>
    removePacks(positionals, {
      cwd,
      signal,
      onCommand: (command) => output.note(`Running ${printable(command)}`),
      onWait: (what) => output.note(`Waiting for ${printable(what)}.`),
    }),
  );
  return {
    json: { added: [], removed, problems: [] },
    formatText: () => removed.map(({ name }) => printable(`Removed ${name}`)).join("\n"),
    problems: [],
  };
}
