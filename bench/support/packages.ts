import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "./random.ts";

/** A generated package. */
export interface MadePackage {
  name: string;
  version: string;
  isPack: boolean;
  /** The packages it needs. */
  dependencies: MadePackage[];
}

const words =
  "array async buffer cache color core data deep event fast file flat graph hash http json lazy list log map mini node " +
  "object parse path pipe plugin queue react router schema shell stream string table task tiny token tree type util";
const vocabulary = words.split(" ");

/** How many packages the project declares: the first ones. */
export const declaredCount = 40;

/**
 * Generates packages, a quarter of them scoped. Of the declared ones four are packs, and one in a hundred of the rest. Each
 * but the first is a dependency of an earlier one, so that all are reachable from the first ones.
 */
export function makePackages(count: number, random: Random): MadePackage[] {
  const scopes = Array.from({ length: 3 + Math.floor(count / 50) }, (_, index) => makeWord(random) + index);
  const made: MadePackage[] = [];
  for (let index = 0; index < count; index++) {
    const name = `${makeWord(random)}-${makeWord(random)}-${index.toString(36)}`;
    const dependencies =
      index === 0 ? [] : Array.from({ length: random.between(0, 3) }, () => random.pick(made));
    const one = {
      name: random.chance(0.25) ? `@${random.pick(scopes)}/${name}` : name,
      version: makeVersion(random),
      isPack: index % (index < declaredCount ? 10 : 100) === 0,
      dependencies,
    };
    if (index > 0) random.pick(made).dependencies.push(one);
    made.push(one);
  }
  return made;
}

export function makeVersion(random: Random): string {
  return `${random.between(0, 9)}.${random.between(0, 30)}.${random.between(0, 20)}`;
}

const makeWord = (random: Random): string => random.pick(vocabulary);

function sentence(random: Random, length: number): string {
  return Array.from({ length }, () => makeWord(random)).join(" ");
}

function makeRanges(random: Random, maximum: number): Record<string, string> {
  const length = random.between(0, maximum);
  return Object.fromEntries(
    Array.from({ length }, () => [`${makeWord(random)}-${makeWord(random)}`, `^${makeVersion(random)}`]),
  );
}

function rangesOf(packages: readonly MadePackage[]): Record<string, string> {
  return Object.fromEntries(packages.map(({ name, version }) => [name, `^${version}`]));
}

/** A package.json of 0.5 to 4 kB, as npm's are. */
function makeManifest(made: MadePackage, random: Random): Record<string, unknown> {
  const { name, version, isPack, dependencies } = made;
  const home = `https://github.com/${makeWord(random)}/${name.replace(/^@.*\//, "")}`;
  const subpaths = Array.from({ length: random.chance(0.2) ? random.between(2, 10) : 1 }, (_, index) => [
    index === 0 ? "." : `./${makeWord(random)}${index}`,
    {
      types: `./dist/part${index}.d.ts`,
      import: `./dist/part${index}.mjs`,
      require: `./dist/part${index}.cjs`,
    },
  ]);
  return {
    name,
    version,
    description: sentence(random, random.between(5, 12)),
    keywords: sentence(random, random.between(1, 9)).split(" "),
    homepage: `${home}#readme`,
    bugs: { url: `${home}/issues` },
    repository: `${home}.git`,
    license: "MIT",
    author: `${sentence(random, 2)} <author@example.com>`,
    main: "index.js",
    ...(random.chance(0.5)
      ? { exports: Object.fromEntries(subpaths), files: ["dist", "lib", "index.js"] }
      : {}),
    ...(isPack
      ? { trailblaze: { servers: ["main"], tools: [["first", sentence(random, 6)], "second"] } }
      : {}),
    scripts: { build: "tsc -p .", test: "node --test" },
    dependencies: rangesOf(dependencies),
    ...(random.chance(0.7) ? { devDependencies: makeRanges(random, random.chance(0.15) ? 90 : 18) } : {}),
    engines: { node: ">=18" },
  };
}

const definitions: Readonly<Record<string, unknown>> = {
  "servers/main": { tools: ["first", "second"] },
  "tools/first": {
    name: "made_first",
    description: "The first.",
    inputSchema: { type: "object" },
    handler: "./index.js",
  },
  "tools/second": {
    name: "made_second",
    description: "The second.",
    inputSchema: { type: "object" },
    handler: "./index.js",
  },
};

/** Writes a package with the files and folders that discovery has to skip. */
export function writePackage(folder: string, made: MadePackage, random: Random): void {
  mkdirSync(join(folder, "lib"), { recursive: true });
  writeJson(join(folder, "package.json"), makeManifest(made, random));
  for (const file of ["index.js", "README.md", "lib/main.js"]) {
    writeFileSync(join(folder, file), `// ${made.name}\n`);
  }
  if (!made.isPack) return;
  for (const [path, definition] of Object.entries(definitions)) {
    const file = join(folder, "trailblaze", `${path}.json`);
    mkdirSync(join(file, ".."), { recursive: true });
    writeJson(file, definition);
  }
}

/** Writes the package.json of a project that depends on some packages. */
export function writeProject(folder: string, direct: readonly MadePackage[]): void {
  const dependencies = rangesOf(direct);
  writeJson(join(folder, "package.json"), { name: "project", version: "1.0.0", private: true, dependencies });
}

function writeJson(file: string, value: unknown): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
