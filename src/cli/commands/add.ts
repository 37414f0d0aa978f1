import { type AddedPacks, addPacks } from "../../npm/add-packs.ts";
import { parseSpecs } from "../../npm/parse-specs.ts";
import { failure, printable } from "../../problems/index.ts";
import type { CommandAnswer, CommandInput } from "../command.ts";
import { output } from "../output.ts";
import { askForYes, canAsk, withInterruption } from "../remote/ask.ts";
import { formatPreviews } from "../remote/format-previews.ts";
import { countItems } from "../remote/format-remote-packs.ts";

function formatAdded({ added, declined }: AddedPacks): string {
  if (declined) return "Nothing was installed.";
  const lines = added.map((pack) => `Added ${pack.name} ${pack.version ?? ""}: ${countItems(pack)}`);
  return lines.map(printable).join("\n");
}

export async function run({ positionals, options, cwd }: CommandInput): Promise<CommandAnswer> {
  const isConfirmed = options.yes === true;
  // Without a prompt, names that resemble another pack's need a flag of their own.
  const allowSimilar = !isConfirmed || options["allow-similar"] === true;
  parseSpecs(positionals);
  if (!isConfirmed && !canAsk()) {
    const hint = "Pass --yes to install without confirmation.";
    throw failure("InvalidArguments", { reason: "Cannot ask for confirmation without a terminal", hint });
  }
  const change = await withInterruption((signal) =>
    addPacks(positionals, {
      cwd,
      signal,
      allowSimilar,
      onCommand: (command) => output.note(`Running ${printable(command)}`),
      onWait: (what) => output.note(`Waiting for ${printable(what)}.`),
      consent(previews) {
        output.note(formatPreviews(previews, output.stderrStyle().width));
        return (
          isConfirmed ||
          askForYes(previews.length === 1 ? "Install this pack?" : "Install these packs?", signal)
        );
      },
    }),
  );
  const { added, problems, declined } = change;
  return {
    json: { added, removed: [], problems },
    formatText: () => formatAdded(change),
    problems,
    failed: declined,
  };
}
