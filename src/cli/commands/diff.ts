import { diffLock } from "../../approval/diff-lock.ts";
import type { EntryChange } from "../../lock/types.ts";
import { printable } from "../../problems/index.ts";
import type { CommandAnswer, CommandInput } from "../command.ts";
import { readInstallationOptions } from "../lock/installation-options.ts";
import { withStopSignal } from "../session/session-command.ts";

const formatEntry = ({ name, change, items }: EntryChange) => [
  printable(`${name}: ${change}`),
  ...items.map(({ kind, name, server, change, fields }) =>
    printable(
      `  ${kind} ${server === undefined ? "" : `${server}/`}${name}: ${change} ${fields
        .map(({ path }) => path.join("."))
        .join(", ")}`.trimEnd(),
    ),
  ),
];

/** Shows how the installation differs from trailblaze.lock. */
export async function run(input: CommandInput): Promise<CommandAnswer> {
  return withStopSignal(input, async (signal) => {
    const difference = await diffLock({
      ...readInstallationOptions(input, signal),
      targets: input.positionals,
      static: input.options.static === true,
    });
    const { inSync, packs, servers, problems } = difference;
    const different = [...packs, ...servers].filter(({ change }) => change !== "same");
    return {
      json: difference,
      formatText: () =>
        inSync
          ? "The installation does not differ from trailblaze.lock."
          : different.flatMap(formatEntry).join("\n"),
      problems,
      failed: !inSync,
    };
  });
}
