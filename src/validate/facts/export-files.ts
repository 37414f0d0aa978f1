import { isRecord, parseJson } from "../../data/parse-json.ts";
import type { DiscoveredPack } from "../../discovery/types.ts";
import type { InspectionPort } from "../../files/inspection-port.ts";

/** The files of the formats that start an exact version of an npm package. */
const exportFiles = [
  "mcp.json",
  ".claude-plugin/plugin.json",
  "gemini-extension.json",
  "server.json",
] as const;

/** A file of the package that starts a version of it. */
export interface ExportFile {
  file: string;
  /** What it starts of the package. */
  starts: { version: string; command: string | undefined }[];
}

/** The package and the command in arguments of npx. */
function readArguments(args: unknown, name: string): ExportFile["starts"] {
  if (!Array.isArray(args)) return [];
  const option = `--package=${name}@`;
  const at = args.findIndex((one) => typeof one === "string" && one.startsWith(option));
  const written: unknown = args[at];
  if (typeof written !== "string") return [];
  const command: unknown = args[at + 1];
  return [
    { version: written.slice(option.length), command: typeof command === "string" ? command : undefined },
  ];
}

function readStarts(value: unknown, name: string): ExportFile["starts"] {
  if (!isRecord(value)) return [];
  const servers = Object.values(isRecord(value.mcpServers) ? value.mcpServers : {});
  const packages: unknown[] = Array.isArray(value.packages) ? value.packages : [];
  return [
    ...servers.flatMap((server) => (isRecord(server) ? readArguments(server.args, name) : [])),
    ...packages
      .filter(isRecord)
      .flatMap(({ identifier, version }) =>
        identifier === name && typeof version === "string" ? [{ version, command: undefined }] : [],
      ),
  ];
}

/** Finds files in the package's folder that start it, as `trailblaze export` writes them. Ignores all others. */
export function findExportFiles(port: InspectionPort, { location, name }: DiscoveredPack): ExportFile[] {
  return exportFiles.flatMap((file) => {
    const read = port.readFile(location, file);
    if (read.state !== "read") return [];
    try {
      const starts = readStarts(parseJson(read.bytes).value, name);
      return starts.length === 0 ? [] : [{ file, starts }];
    } catch {
      // A broken file is the business of those who read it.
      return [];
    }
  });
}
