import type { UserServer } from "../config/session-config.ts";
import { isFault, readManifest } from "../discovery/manifest.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { findPackageFolder } from "../inspection/server-package.ts";

/** The version of the installed package of a server of the config; `null` if it is unknown, `undefined` without a package. */
export function readInstalledVersion(project: string, { package: name }: UserServer) {
  if (name === undefined) return undefined;
  const port = createNodeInspectionPort();
  const location = findPackageFolder(port, project, name);
  const read = location === undefined ? "absent" : readManifest(port, location, "always");
  const version = typeof read === "string" || isFault(read) ? undefined : read.value.version;
  return typeof version === "string" ? version : null;
}
