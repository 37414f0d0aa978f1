import { failure } from "../../problems/index.ts";
import { searchPacks } from "../../remote.ts";
import type { CommandAnswer, CommandInput } from "../command.ts";
import { output } from "../output.ts";
import { formatRemotePacks } from "../remote/format-remote-packs.ts";

/** Searches registries for `search` and `list --remote`. */
export async function searchFor(text: string, { options, cwd }: CommandInput): Promise<CommandAnswer> {
  const { refresh = false, offline = false } = options;
  if (refresh && offline)
    throw failure("InvalidArguments", { reason: "--refresh and --offline cannot be combined" });
  const isTerminal = output.stderrIsTerminal();
  let noted = 0;
  const found = await searchPacks(text, {
    cwd,
    refresh: refresh === true,
    offline: offline === true,
    // One line for every 50 packages: rewriting one line would leave its last state before the answer.
    onProgress({ read, of }) {
      if (!isTerminal || read < noted + 50) return;
      noted = read;
      output.note(`Checked ${read} of ${of} packages`);
    },
  });
  const { problems } = found;
  return { json: found, formatText: (style) => formatRemotePacks(found, style), problems };
}

export async function run(input: CommandInput): Promise<CommandAnswer> {
  return await searchFor(input.positionals.join(" "), input);
}
