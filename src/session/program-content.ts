import { createHash } from "node:crypto";
import { relative, sep } from "node:path";
import type { SessionConfig, UserServer } from "../config/session-config.ts";
import { resolveFrom } from "../discovery/package-folders.ts";
import { type InspectionPort, maximumModuleBytes } from "../files/inspection-port.ts";
import type { InspectedItem, InspectedPack } from "../inspection/types.ts";
import type { ProgramPlan } from "../runtime/server-launches.ts";
import { findNeededFiles, findResourceFiles } from "../validate/needed-files.ts";

/** A hash of a package's version and of files in it; a missing file counts as empty. */
function hashFiles(
  port: InspectionPort,
  { location, version }: { location: string; version: unknown },
  files: Iterable<string>,
): string {
  const hash = createHash("sha256").update(JSON.stringify([location, version]));
  for (const file of new Set(files)) {
    const read = port.readFile(location, file, maximumModuleBytes);
    hash.update(JSON.stringify(file)).update(read.state === "read" ? read.bytes : "");
  }
  return hash.digest("hex");
}

/** The content of the code of a pack's tools, prompts and resources: an update, or an edit of one of their files, changes it. */
export function hashPackCode(port: InspectionPort, { pack, items }: InspectedPack): string {
  const isRun = ({ shape }: InspectedItem) => shape !== "subprocessServer";
  return hashFiles(
    port,
    pack,
    [...findNeededFiles(items.filter(isRun)), ...findResourceFiles(items)].map(({ file }) => file),
  );
}

/** The content of the program of a pack's server. */
export function hashPackProgram(port: InspectionPort, { pack }: InspectedPack, plan: ProgramPlan): string {
  return hashFiles(port, pack, [relative(pack.location, plan.toolsetFile).split(sep).join("/")]);
}

/** The content of the program of a user's server; `undefined` if it is not in an installed package. */
export function hashUserProgram(
  port: InspectionPort,
  { package: name }: UserServer,
  { project }: SessionConfig,
  plan: ProgramPlan,
): string | undefined {
  const location = name === undefined ? undefined : resolveFrom(port, project, name);
  if (location === undefined) return undefined;
  const file = relative(location, plan.toolsetFile).split(sep).join("/");
  return hashFiles(port, { location, version: null }, ["package.json", file]);
}
