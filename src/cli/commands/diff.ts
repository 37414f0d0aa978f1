import { diffLock } from "../../approval/diff-lock.ts";
import { defineCommand } from "../command.ts";
import { withSignals } from "../interruption.ts";
import { configOption, flag } from "../options.ts";
import { readSessionOptions } from "../session/session-command.ts";

export const command = defineCommand({
  summary: "Show how packs and servers differ from what trailblaze.lock approves",
  usage: "[pack|server...]",
  options: {
    static: flag("Start no servers; their tools are not compared"),
    ...configOption,
  },
  async run(input) {
    return withSignals(
      async (signal) => {
        const { failedServers, ...difference } = await diffLock({
          ...readSessionOptions(input),
          signal,
          targets: input.positionals,
          static: input.options.static,
        });
        const { inSync, entries, problems } = difference;
        return {
          json: difference,
          formatText: () =>
            inSync
              ? "The installation does not differ from trailblaze.lock."
              : entries.map(({ diff }) => diff).join("\n"),
          problems,
          // Broken items of packs are no difference.
          exitCode: inSync && failedServers.length === 0 ? 0 : 1,
        };
      },
      { asJson: input.options.json },
    );
  },
});
