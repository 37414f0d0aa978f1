import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { declaredCount, makePackages, makeVersion, writePackage, writeProject } from "./packages.ts";
import type { Random } from "./random.ts";

/** Share of the packages that are nested because they are another version of a top-level package. */
const nestedShare = 0.15;

/** Writes a project in npm's layout: packages hoisted to the top, other versions nested. */
export function writeNpmTree(folder: string, count: number, random: Random): void {
  const hoisted = makePackages(Math.max(declaredCount, Math.ceil(count * (1 - nestedShare))), random);
  const top = join(folder, "node_modules");
  mkdirSync(join(top, ".bin"), { recursive: true });
  writeProject(folder, hoisted.slice(0, declaredCount));

  const locations: string[] = [];
  for (const made of hoisted) {
    const location = join(top, made.name);
    writePackage(location, made, random);
    locations.push(location);
  }
  const taken = new Set<string>();
  while (taken.size < count - hoisted.length) {
    // Few packages have many nested packages; most have none.
    const parent = locations[Math.floor(random.next() ** 3 * locations.length)] ?? folder;
    const { name } = random.pick(hoisted);
    const location = join(parent, "node_modules", name);
    if (taken.has(location)) continue;
    taken.add(location);
    const other = { name, version: makeVersion(random), isPack: false, dependencies: [] };
    writePackage(location, other, random);
    if (random.chance(0.2)) locations.push(location);
  }
}
