import type { ServerEntry } from "../../config/server-entries.ts";
import { findProject } from "../../discovery/project.ts";
import { createNodeDiscoveryPort } from "../../files/node-discovery-port.ts";
import {
  type ConfigEdit,
  locateServer,
  planConfigEdit,
  readProjectServers,
} from "../../install/project-config.ts";
import { removePacks } from "../../npm/remove-packs.ts";
import { printable, TrailblazeError } from "../../problems/index.ts";
import { defineCommand } from "../command.ts";
import { withSignals } from "../interruption.ts";
import { flag } from "../options.ts";
import { output } from "../output.ts";

export const command = defineCommand({
  summary: "Remove packs, or MCP servers and their entries in the config",
  usage: "<pack|package...>",
  options: {
    yes: { ...flag("Accepted for scripts; remove never asks"), short: "y" },
  },
  async run({ positionals, cwd }) {
    const { directory } = findProject(createNodeDiscoveryPort(), cwd);
    // A lock that cannot be used is an error before anything is removed.
    const { findLock } = await import("../../lock/lock-file.ts");
    await findLock(directory);
    const known = (await readProjectServers(directory)).filter(({ values }) => values.package !== undefined);
    let servers: typeof known = [];
    let listed: typeof known = [];
    let edit: ConfigEdit | undefined;
    const { removed } = await withSignals((signal) =>
      removePacks(positionals, {
        cwd,
        signal,
        onCommand: (command) => output.note(`Running ${printable(command)}`),
        isServer: (name) => known.some((server) => server.values.package === name),
        async complete(names) {
          const own = known.filter(({ values }) => names.includes(String(values.package)));
          const pasted = own.filter(({ isPasted }) => isPasted);
          listed = own;
          if (pasted.length === 0) return;
          try {
            edit = await planConfigEdit(
              directory,
              pasted.map(({ label }) => ({ label: String(label), entry: undefined })),
            );
          } catch (error) {
            // A layout that cannot be edited is named as entries of the list are.
            if (error instanceof TrailblazeError && error.code === "ClientConfigUnwritable") return;
            throw error;
          }
          servers = pasted;
          listed = own.filter(({ isPasted }) => !isPasted);
          await edit.apply();
        },
      }),
    );
    const { recordRemovals } = await import("../../approval/update-lock.ts");
    const pruned = await recordRemovals(directory, {
      packs: removed.map(({ name }) => name),
      servers: servers.map(({ label }) => String(label)),
    });
    const places = await Promise.all(listed.map((entry) => locateServer(directory, entry)));
    const describe = ({ label, values }: ServerEntry) => ({ name: String(label), package: values.package });
    const byHand = listed.map((server, index) => ({ ...describe(server), place: places[index] }));
    const lines = [
      ...removed.map(({ name }) => `Removed ${name}`),
      ...servers.map(({ label }) => `Removed server "${label}" from ${edit?.file}`),
      ...byHand.map(({ name, place }) => `Remove server "${name}" from ${place} by hand`),
      ...pruned.map((name) => `Removed ${name} from trailblaze.lock`),
    ];
    return {
      json: { added: [], removed, servers: servers.map(describe), byHand, problems: [] },
      formatText: () => lines.map(printable).join("\n"),
    };
  },
});
