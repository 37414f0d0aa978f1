import { isRecord } from "../../data/parse-json.ts";
import { readUsableManifest } from "../../discovery/manifest.ts";
import { resolveFrom } from "../../discovery/package-folders.ts";
import { declaredDependencies } from "../../discovery/project.ts";
import type { InspectionPort } from "../../files/inspection-port.ts";
import type { InspectedPack } from "../../inspection/types.ts";

/** The command names of a package by its `bin`: a single path has the package's name without its scope. */
function listCommands({ name, bin }: Readonly<Record<string, unknown>>): string[] {
  if (isRecord(bin)) return Object.keys(bin);
  return typeof bin === "string" && typeof name === "string" ? [name.replace(/^@[^/]+\//, "")] : [];
}

/** The name of a command, also of one written as a path in `node_modules/.bin`. */
export const commandName = (command: string): string => command.replace(/^.*node_modules\/\.bin\//, "");

/** The installed dependencies that provide the commands of subprocess servers, by command. */
export function findDependencyCommands(
  port: InspectionPort,
  { pack, manifest, items }: InspectedPack,
): Map<string, string> {
  const commands = new Set(
    items.flatMap(({ shape, definition }) => {
      const command = shape === "subprocessServer" ? definition?.command : undefined;
      return typeof command === "string" ? commandName(command) : [];
    }),
  );
  const found = new Map<string, string>();
  if (commands.size === 0) return found;
  for (const name of declaredDependencies(manifest)) {
    const location = resolveFrom(port, pack.location, name);
    const read = readUsableManifest(port, location);
    if (read === undefined) continue;
    for (const command of listCommands(read.value)) {
      if (commands.has(command) && !found.has(command)) found.set(command, name);
    }
  }
  return found;
}
