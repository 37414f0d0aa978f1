// Generated projects with many installed packages, to be searched.
import { join } from "node:path";
import { makeTemporaryFolder } from "../../test/support/temporary-folder.ts";
import { type Tree as Files, writeTree } from "../../test/support/tree.ts";

type Random = ReturnType<typeof createRandom>;

/** Pseudo-random numbers by mulberry32: the same in every run, so that every run measures the same trees. */
function createRandom(seed: number) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  /** An integer from `minimum` to `maximum`, inclusive. */
  const between = (minimum: number, maximum: number) =>
    minimum + Math.floor(next() * (maximum - minimum + 1));
  return {
    next,
    between,
    chance: (probability: number) => next() < probability,
    pick: <Item>(items: readonly Item[]): Item => {
      const item = items[between(0, items.length - 1)];
      if (item === undefined) throw new Error("There is nothing to pick from");
      return item;
    },
  };
}

/** A generated package. */
interface MadePackage {
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
const declaredCount = 40;

/**
 * Generates packages, a quarter of them scoped. Of the declared ones four are packs, and one in a hundred of the rest. Each
 * but the first is a dependency of an earlier one, so that all are reachable from the first ones.
 */
function makePackages(count: number, random: Random): MadePackage[] {
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

function makeVersion(random: Random): string {
  return `${random.between(0, 9)}.${random.between(0, 30)}.${random.between(0, 20)}`;
}

const makeWord = (random: Random): string => random.pick(vocabulary);

function sentence(random: Random, length: number): string {
  return Array.from({ length }, () => makeWord(random)).join(" ");
}

function rangesOf(packages: readonly MadePackage[]): Record<string, string> {
  return Object.fromEntries(packages.map(({ name, version }) => [name, `^${version}`]));
}

/** A package.json of 0.5 to 4 kB, as npm's are. */
function makeManifest(made: MadePackage, random: Random): Record<string, unknown> {
  const { name, version, isPack, dependencies } = made;
  const home = `https://github.com/${makeWord(random)}/${name.replace(/^@.*\//, "")}`;
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
    ...(isPack
      ? { trailblaze: { servers: ["main"], tools: [["first", sentence(random, 6)], "second"] } }
      : {}),
    scripts: { build: "tsc -p .", test: "node --test" },
    dependencies: rangesOf(dependencies),
    engines: { node: ">=18" },
    // Most are short.
    contributors: sentence(random, Math.floor(random.next() ** 4 * 500)).split(" "),
  };
}

const definitions: Files = {
  "servers/main.json": { tools: ["first", "second"] },
  "tools/first.json": {
    name: "made_first",
    description: "The first.",
    inputSchema: { type: "object" },
    handler: "./index.js",
  },
  "tools/second.json": {
    name: "made_second",
    description: "The second.",
    inputSchema: { type: "object" },
    handler: "./index.js",
  },
};

/** Writes a package with the files and folders that discovery has to skip. */
function writePackage(folder: string, made: MadePackage, random: Random): void {
  const others = ["index.js", "README.md", "lib/main.js"].map((file) => [file, `// ${made.name}\n`]);
  writeTree(folder, { "package.json": makeManifest(made, random), ...Object.fromEntries(others) });
  if (made.isPack) writeTree(join(folder, "trailblaze"), definitions);
}

/** Share of the packages that are nested because they are another version of a top-level package. */
const nestedShare = 0.15;

/** Writes a project in npm's layout: packages hoisted to the top, other versions nested. */
function writeNpmTree(folder: string, count: number, random: Random): void {
  const hoisted = makePackages(Math.max(declaredCount, Math.ceil(count * (1 - nestedShare))), random);
  const top = join(folder, "node_modules");
  const dependencies = rangesOf(hoisted.slice(0, declaredCount));
  writeTree(folder, { "package.json": { name: "project", version: "1.0.0", private: true, dependencies } });

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

/** A project with forty declared dependencies, four of them packs, and this many installed packages. */
export interface Tree {
  path: string;
  packages: number;
}

const sizes = [40, 300, 1000, 2745, 20_000];

/** Runs a benchmark with a folder of its own and trees in it, which are removed afterwards. */
export async function withTemporaryTrees(
  run: (trees: readonly Tree[], folder: string) => Promise<void>,
): Promise<void> {
  const { path: folder, remove } = makeTemporaryFolder();
  try {
    console.error("Writing trees");
    const trees = sizes.map((packages) => {
      const path = join(folder, `npm-${packages}`);
      writeNpmTree(path, packages, createRandom(packages));
      return { path, packages };
    });
    await run(trees, folder);
  } finally {
    remove();
  }
}
