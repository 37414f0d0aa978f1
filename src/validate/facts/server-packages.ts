import type { InspectionPort } from "../../files/inspection-port.ts";
import { findPackageProgram, type PackageProgram } from "../../inspection/server-package.ts";
import type { InspectedItem, InspectedPack } from "../../inspection/types.ts";

/** The programs of subprocess servers with `package`. */
export type ServerPackages = ReadonlyMap<InspectedItem, PackageProgram>;

/** Finds the programs of subprocess servers that run a package. Reads package.json files and the programs' first lines. */
export function collectServerPackages(port: InspectionPort, { items, pack }: InspectedPack): ServerPackages {
  const programs = new Map<InspectedItem, PackageProgram>();
  for (const item of items) {
    const { package: name, bin } = item.definition ?? {};
    if (item.shape !== "subprocessServer" || typeof name !== "string") continue;
    const named = { package: name, bin: typeof bin === "string" ? bin : undefined };
    programs.set(item, findPackageProgram(port, pack.location, named));
  }
  return programs;
}

/** Whether the package of a server is not installed. */
export const lacksPackage = (packages: ServerPackages): boolean =>
  [...packages.values()].some(({ state }) => state === "notInstalled");
