import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, posix, relative, sep } from "node:path";
import packlist, { type PackingTree } from "npm-packlist";
import { countAlternatives, measureGlob, stepsToPrepare } from "../../files/glob-cost.ts";
import type { PackingRequest } from "./npm-packing.ts";

/** Limits on ignore files and patterns. */
const maximumIgnoreFileBytes = 1 << 16;
const maximumPatterns = 1000;
const maximumPatternLength = 1024;
/** Limits on the cost of matching the patterns of one package, and on their expanded alternatives. */
const maximumSteps = 10_000_000;
const maximumAlternatives = 5000;
/** The number of forms in which npm-packlist compares a path with a pattern. */
const formsOfPath = 12;

class CannotTell extends Error {}

/** The files and all of their parent folders. */
function withParents(files: readonly string[]): Set<string> {
  const way = new Set<string>();
  for (const file of files) {
    for (let end = file.indexOf("/"); end >= 0; end = file.indexOf("/", end + 1)) way.add(file.slice(0, end));
    way.add(file);
  }
  return way;
}

/** The package as npm-packlist sees it, with the remaining budget for matching patterns. */
class MeteredTree implements PackingTree {
  readonly path: string;
  readonly package: PackingTree["package"];
  readonly isProjectRoot = true;
  readonly edgesOut = new Map<string, never>();
  /** The number of requested files below each folder. */
  readonly #below = new Map<string, number>();
  #longest = 0;
  #depth = 0;
  #steps = maximumSteps;
  #alternatives = maximumAlternatives;

  constructor(path: string, manifest: PackingTree["package"], files: readonly string[]) {
    this.path = path;
    this.package = manifest;
    for (const file of files) {
      const segments = file.split("/");
      this.#depth = Math.max(this.#depth, segments.length + 1);
      for (const [index, { length }] of segments.entries()) {
        this.#longest = Math.max(this.#longest, length);
        const folder = segments.slice(0, index).join("/");
        this.#below.set(folder, (this.#below.get(folder) ?? 0) + 1);
      }
    }
  }

  /** Takes the cost of a folder's patterns from the budget. Throws if it is exceeded. */
  payFor(folder: string, patterns: readonly string[]): void {
    const comparisons = formsOfPath * (this.#below.get(folder) ?? 0);
    for (const pattern of patterns) {
      if (pattern.length > maximumPatternLength) throw new CannotTell();
      const alternatives = countAlternatives(pattern);
      this.#alternatives -= alternatives - 1;
      if (this.#alternatives < 0) throw new CannotTell();
      const again = measureGlob(pattern)(this.#longest, this.#depth) - alternatives;
      this.#steps -= Math.max(0, again) * comparisons + stepsToPrepare(pattern) - pattern.length;
      if (this.#steps < 0) throw new CannotTell();
    }
  }
}

/** Cached rules by text: compiling them is slow, and most folders have the same. */
const knownRules = new Map<string, unknown[]>();

/** Applies npm's rules only to the requested files. */
class NeededFilesWalker extends packlist.Walker {
  readonly #way: ReadonlySet<string>;

  constructor(tree: PackingTree, options: Record<string, unknown>, way: ReadonlySet<string>) {
    super(tree, options);
    this.#way = way;
  }

  /** The order is irrelevant. */
  override sort(): number {
    return 0;
  }

  override start(): this {
    try {
      const folder = relative(this.root, this.path).split(sep).join("/");
      const isWanted = (name: string) => this.#way.has(folder === "" ? name : `${folder}/${name}`);
      this.onReaddir(readdirSync(this.path).filter((name) => this.isIgnoreFile(name) || isWanted(name)));
    } catch (error) {
      this.emit("error", error);
    }
    return this;
  }

  override addIgnoreFile(file: string, done: () => void): void {
    // npm-packlist reads the rules of package.json from the tree.
    if (file === "package.json") {
      super.addIgnoreFile(file, done);
      return;
    }
    const path = join(this.path, file);
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > maximumIgnoreFileBytes) throw new CannotTell();
    this.onReadIgnoreFile(file, readFileSync(path, "utf8"), done);
  }

  override onReadIgnoreFile(file: string, text: string, done: () => void): void {
    const patterns = text.split("\n");
    if (patterns.length > maximumPatterns) throw new CannotTell();
    (this.tree as MeteredTree).payFor(relative(this.root, this.path).split(sep).join("/"), patterns);
    const known = knownRules.get(text);
    if (known !== undefined) {
      this.ignoreRules[file] = known;
      done();
      return;
    }
    super.onReadIgnoreFile(file, text, () => {
      if (knownRules.size > 100) knownRules.clear();
      knownRules.set(text, this.ignoreRules[file] ?? []);
      done();
    });
  }

  override walker(entry: string, options: object, done: () => void): void {
    try {
      new NeededFilesWalker(this.tree, this.walkerOpt(entry, options), this.#way).on("done", done).start();
    } catch (error) {
      this.emit("error", error);
    }
  }
}

const isText = (value: unknown): value is string => typeof value === "string";

/** The part of package.json that npm-packlist reads, normalized as by npm. */
function normalizeManifest({ manifest, files: needed }: PackingRequest) {
  const { files, main, browser, bin, directories } = manifest as Record<string, unknown> & {
    directories?: { bin?: unknown } | null;
  };
  const inBinFolder = (folder: string) =>
    needed.filter((file) => file.startsWith(`${posix.join("/", folder).slice(1)}/`));
  const binFolder = bin === undefined && isText(directories?.bin) ? inBinFolder(directories.bin) : [];
  const bins = typeof bin === "object" && bin !== null ? Object.values(bin) : [bin];
  const programs = bins.filter(isText).map((file) => posix.join("/", file).slice(1));
  return {
    ...(Array.isArray(files) ? { files: files.filter(isText) } : {}),
    ...(isText(main) ? { main } : {}),
    ...(isText(browser) ? { browser } : {}),
    bin: Object.fromEntries([...programs, ...binFolder].map((file, index) => [index, file])),
    bundleDependencies: [],
  };
}

/**
 * The requested files that npm would publish, according to npm-packlist; `undefined` if it cannot be determined. Reads the
 * package's ignore files and runs no scripts.
 */
export function findPackedByRules(request: PackingRequest): Promise<ReadonlySet<string> | undefined> {
  const { packageRoot, files, workspace } = request;
  const packageJson = normalizeManifest(request);
  const tree = new MeteredTree(packageRoot, packageJson, files);
  const options = workspace ? { prefix: workspace.root, workspaces: [...workspace.members] } : {};
  return new Promise<ReadonlySet<string> | undefined>((resolve) => {
    const giveUp = () => resolve(undefined);
    if ((packageJson.files?.length ?? 0) > maximumPatterns) return giveUp();
    try {
      new NeededFilesWalker(tree, { ...options, isPackage: true }, withParents(files))
        .on("done", (packed: string[]) => {
          const names = new Set(packed.map((file) => file.replace(/^\.\//, "")));
          resolve(new Set(files.filter((file) => names.has(file))));
        })
        .on("error", giveUp)
        .start();
    } catch {
      giveUp();
    }
  });
}
