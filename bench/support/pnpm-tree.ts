import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { type MadePackage, makePackages, writePackage, writeProject } from "./packages.ts";
import type { Random } from "./random.ts";

/** Share of the packages of which a second version is installed. */
const duplicateShare = 0.05;
/** Share of the packages that depend on a command, which pnpm links in a node_modules of their own. */
const commandShare = 0.15;

function link(path: string, target: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(relative(dirname(path), target), path, "junction");
}

/** The folder in the store, with pnpm's name for it; some packages have peers. */
function unitOf({ name, version, dependencies: [peer] }: MadePackage): string {
  const suffix = peer?.name.endsWith("5") ? `_${peer.name.replace("/", "+")}@${peer.version}` : "";
  return `${name.replace("/", "+")}@${version}${suffix}`;
}

/** Writes a project in pnpm's layout: a store of units, each with one package and links to its dependencies. */
export function writePnpmTree(folder: string, count: number, packs: number, random: Random): void {
  const distinct = makePackages(Math.ceil(count * (1 - duplicateShare)), packs, random);
  const others = distinct.slice(-(count - distinct.length)).map((made) => {
    return { ...made, version: `10.${made.version}`.replace(/\.\d+$/, ""), isPack: false };
  });
  const store = join(folder, "node_modules", ".pnpm");
  const locate = (made: MadePackage) => join(store, unitOf(made), "node_modules", made.name);
  for (const made of [...distinct, ...others]) {
    const location = locate(made);
    writePackage(location, made, random);
    if (random.chance(commandShare)) mkdirSync(join(location, "node_modules", ".bin"), { recursive: true });
    for (const needed of new Set(made.dependencies)) {
      link(join(store, unitOf(made), "node_modules", needed.name), locate(needed));
    }
    // A second link for packages that use undeclared dependencies.
    if (!others.includes(made)) link(join(store, "node_modules", made.name), location);
  }
  const direct = distinct.slice(0, Math.ceil(count / 20));
  for (const made of direct) link(join(folder, "node_modules", made.name), locate(made));
  writeProject(folder, direct);
  writeFileSync(join(folder, "node_modules", ".modules.yaml"), "layoutVersion: 5\nvirtualStoreDir: .pnpm\n");
}
