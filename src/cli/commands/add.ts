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
  const isAgreed = options.yes === true;
  // Without a question, a name that may be mistaken needs a yes of its own.
  const allowSimilar = !isAgreed || options["allow-similar"] === true;
  // Before the question of consent: what cannot be added needs none.
  parseSpecs(positionals);
  if (!isAgreed && !canAsk()) {
    const hint = "--yes installs without asking.";
    throw failure("InvalidArguments", { reason: "There is no terminal to ask on before installing", hint });
  }
  const change = await withInterruption((signal) =>
    addPacks(positionals, {
      cwd,
      signal,
      allowSimilar,
      onCommand: (command) => output.note(`Running ${printable(command)}`),
      onWait: (what) => output.note(`Waiting for ${printable(what)}.`),
      consent(previews) {
        output.note(formatPreviews(previews));
        return isAgreed || askForYes(previews.length === 1 ? "Install it?" : "Install them?", signal);
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
