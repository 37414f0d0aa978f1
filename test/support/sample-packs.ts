import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { inRepository } from "./repository.ts";
import { writeTree } from "./tree.ts";

export interface SamplePack {
  /** Absolute path of the pack's folder in fixtures/sample-plugins. */
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  readonly description: string;
}

const root = inRepository("fixtures/sample-plugins");

/** Every good sample pack, ordered by folder. */
export const samplePacks: readonly SamplePack[] = readdirSync(root)
  .sort()
  .map((entry) => join(root, entry))
  .filter((folder) => existsSync(join(folder, "package.json")))
  .map((folder) => {
    const { name, version, description } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return { folder, name, version, description };
  });

export function samplePack(name: string): SamplePack {
  const found = samplePacks.find((pack) => pack.name === name);
  if (found === undefined) throw new Error(`There is no sample pack ${name}`);
  return found;
}

/** Makes a folder a project that depends on every good sample pack, as links, and on packages that the caller writes. */
export function makeSampleProject(project: string, name: string, others: readonly string[] = []): void {
  const names = [...samplePacks.map((pack) => pack.name), ...others];
  const dependencies = Object.fromEntries(names.map((one) => [one, "*"]));
  writeTree(project, { "package.json": { name, dependencies } });
  for (const pack of samplePacks) {
    const link = join(project, "node_modules", pack.name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(pack.folder, link, "junction");
  }
}
