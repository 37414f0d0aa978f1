// Adds optional packages of other platforms to package-lock.json that npm omitted because the registry lacks them. Without
// them, `npm ci` rejects the lockfile. `npx tsx scripts/complete-lockfile.ts`
import { readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

interface LockedPackage {
  version?: string;
  optionalDependencies?: Record<string, string>;
  [field: string]: unknown;
}

/** The part of a package-lock.json that is read here: packages by their place. */
export interface Lockfile {
  packages: Record<string, LockedPackage>;
}

export interface MissingPackage {
  /** Where npm would install it. */
  place: string;
  version: string;
  /** The package that depends on it. */
  dependant: LockedPackage;
}

/** The places where Node looks for a package from another place, nearest first. */
function* lookUp(place: string, name: string): Generator<string> {
  for (let current = place; ; current = dirname(current)) {
    if (current === "." || current === "") return yield `node_modules/${name}`;
    if (!current.endsWith("node_modules")) yield `${current}/node_modules/${name}`;
  }
}

/** Optional dependencies without an entry in the lockfile. */
export function findMissingPackages({ packages }: Lockfile): MissingPackage[] {
  const missing = new Map<string, MissingPackage>();
  for (const [place, dependant] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(dependant.optionalDependencies ?? {})) {
      if ([...lookUp(place, name)].some((candidate) => Object.hasOwn(packages, candidate))) continue;
      missing.set(`node_modules/${name}`, { place: `node_modules/${name}`, version, dependant });
    }
  }
  return [...missing.values()];
}

const systems = [
  "aix",
  "android",
  "darwin",
  "freebsd",
  "linux",
  "netbsd",
  "openbsd",
  "openharmony",
  "sunos",
  "win32",
];
const processors = ["arm", "arm64", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "x64"];

/** The platform of such a package, from its name: `@scope/binding-linux-arm64-musl`. */
function describePlatform(place: string): Record<string, string[]> {
  const words = place.split(/[/-]/);
  const pick = (known: readonly string[]) => words.filter((word) => known.includes(word));
  const libc = words.some((word) => word.startsWith("musl"))
    ? { libc: ["musl"] }
    : words.some((word) => word.startsWith("gnu"))
      ? { libc: ["glibc"] }
      : {};
  const platform = { cpu: pick(processors), os: pick(systems), ...libc };
  if (platform.cpu.length !== 1 || platform.os.length !== 1)
    throw new Error(`No platform in the name ${place}`);
  return platform;
}

/** The lockfile with entries for all of them. */
export function completeLockfile(lockfile: Lockfile): Lockfile {
  const packages = { ...lockfile.packages };
  for (const { place, version, dependant } of findMissingPackages(lockfile)) {
    const { dev, license } = dependant;
    packages[place] = { version, dev, license, optional: true, ...describePlatform(place) };
  }
  const sorted = Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, "en"));
  return { ...lockfile, packages: Object.fromEntries(sorted) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = fileURLToPath(new URL("../package-lock.json", import.meta.url));
  const lockfile = JSON.parse(readFileSync(file, "utf8")) as Lockfile;
  for (const { place, version } of findMissingPackages(lockfile)) console.log(place, version);
  writeFileSync(file, `${JSON.stringify(completeLockfile(lockfile), null, 2)}\n`);
}
