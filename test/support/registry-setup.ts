import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { livePack } from "../integration/live-pack.ts";
import { publish } from "./publish.ts";
import { type Registry, startRegistry } from "./registry.ts";
import { inRepository } from "./repository.ts";
import { samplePack, samplePacks } from "./sample-packs.ts";
import { makeTemporaryFolder } from "./temporary-folder.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Address of the registry on loopback that has the packages of this repository and every sample pack. */
    registry: string;
  }
}

/** Folders of what is published under its own version, as `latest`. */
const published: readonly string[] = [
  inRepository("."),
  inRepository("packages/scripting"),
  ...samplePacks.map(({ folder }) => folder),
];

/** A newer version of a sample pack, under the tag `next`, so that nobody gets it without asking. */
const newerVersions: Readonly<Record<string, string>> = { "@globex/text": "2.0.0" };

async function publishNewerVersion(registry: Registry, name: string, version: string): Promise<void> {
  const copy = makeTemporaryFolder();
  try {
    cpSync(samplePack(name).folder, copy.path, { recursive: true });
    const file = join(copy.path, "package.json");
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), version }));
    await registry.publish(copy.path, { tag: "next" });
  } finally {
    copy.remove();
  }
}

async function publishEverything(registry: Registry): Promise<void> {
  await Promise.all(published.map((folder) => registry.publish(folder)));
  for (const version of ["1.0.0", "2.0.0"]) await publish(registry.url, livePack(version));
  for (const [name, version] of Object.entries(newerVersions)) {
    await publishNewerVersion(registry, name, version);
  }
}

// biome-ignore lint/style/noDefaultExport: vitest calls a global setup by its default export
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const registry = await startRegistry();
  try {
    await publishEverything(registry);
  } catch (error) {
    await registry.close();
    throw error;
  }
  project.provide("registry", registry.url);
  return registry.close;
}
