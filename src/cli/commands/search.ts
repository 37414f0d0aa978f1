import { failure } from "../../problems/index.ts";
import { searchPacks } from "../../remote.ts";
import type { CommandAnswer, CommandInput } from "../command.ts";
import { output } from "../output.ts";
import { formatRemotePacks } from "../remote/format-remote-packs.ts";

/** Answers every search of registries, be it `search` or `list --remote`. */
export async function searchFor(text: string, { options, cwd }: CommandInput): Promise<CommandAnswer> {
  const { refresh = false, offline = false } = options;
  if (refresh && offline)
    throw failure("InvalidArguments", { reason: "--refresh asks anew and --offline asks nobody" });
  const isTerminal = output.stderrStyle().width !== undefined;
  let noted = 0;
  const found = await searchPacks(text, {
    cwd,
    refresh: refresh === true,
    offline: offline === true,
    // A line for each fifty: what goes back in its line would not be undone where the answer is long in coming.
    onProgress({ read, of }) {
      if (!isTerminal || read < noted + 50) return;
      noted = read;
      output.note(`${read} of ${of} packages looked at`);
    },
  });
  // What is wrong with packs that others published is in the document, but nobody's here to mend.
  const { problems } = found;
  return { json: found, formatText: (style) => formatRemotePacks(found, style), problems };
}

export async function run(input: CommandInput): Promise<CommandAnswer> {
  return await searchFor(input.positionals.join(" "), input);
}
