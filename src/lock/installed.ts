import type { UserServer } from "../config/session-config.ts";
import { readUsableManifest } from "../discovery/manifest.ts";
import { resolveFrom } from "../discovery/package-folders.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";

/** The version of the installed package of a server of the config; `null` if it is unknown, `undefined` without a package. */
export function readInstalledVersion(project: string, { package: name }: UserServer) {
  if (name === undefined) return undefined;
  const port = createNodeInspectionPort();
  const location = resolveFrom(port, project, name);
  const version = readUsableManifest(port, location)?.value.version;
  return typeof version === "string" ? version : null;
}
