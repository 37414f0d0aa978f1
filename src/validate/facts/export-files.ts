import type { DiscoveredPack } from "../../discovery/types.ts";
import type { InspectionPort } from "../../files/inspection-port.ts";

const exportFiles = ["plugin.json", "mcp.json", ".claude-plugin/plugin.json", "server.json"];

/** Finds the files in the package's folder that `trailblaze export` wrote. They start the package or name the export. */
export function findExportFiles(port: InspectionPort, { location, name }: DiscoveredPack): string[] {
  const marks = [`"--package=${name}@`, `"identifier": "${name}"`, '"trailblaze.export"'];
  return exportFiles.filter((file) => {
    const read = port.readFile(location, file);
    if (read.state !== "read") return false;
    const text = new TextDecoder().decode(read.bytes);
    return marks.some((mark) => text.includes(mark));
  });
}
