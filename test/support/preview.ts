import { formatPreviews } from "../../src/cli/commands/packages.ts";
import { describePack } from "../../src/discovery/describe-pack.ts";
import { readUsableManifest } from "../../src/discovery/manifest.ts";
import { inspectionPort as port } from "../../src/files/node-inspection-port.ts";
import { loadDefinitions } from "../../src/inspection/load-definitions.ts";
import type { PackPreview } from "../../src/npm/preview-packs.ts";

/** What `add` shows of a package in a folder. */
export async function formatPreviewOf(location: string, rest: Partial<PackPreview> = {}): Promise<string> {
  const manifest = readUsableManifest(port, location);
  if (manifest === undefined) throw new Error("no package.json");
  const found = await describePack(port, { location, name: undefined, manifest, origin: "direct" });
  const inspected = await loadDefinitions(port, found, { dataOnly: true });
  const registry = { deprecated: undefined, warnings: [], serverBins: undefined };
  return formatPreviews([{ ...inspected, ...registry, ...rest }], undefined);
}

/** The lines about commands that `add` shows. */
export const commandsIn = (preview: PackPreview | undefined): string[] =>
  formatPreviews(preview ? [preview] : [], undefined).match(/(?<=^ {2}command {3}).*$/gm) ?? [];
