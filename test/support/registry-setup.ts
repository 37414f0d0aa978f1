import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { livePack } from "../integration/live-pack.ts";
import { publish, publishFolders } from "./publish.ts";
import { startRegistry } from "./registry.ts";
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

async function publishEverything(url: string): Promise<void> {
  for (const version of ["1.0.0", "2.0.0"]) await publish(url, livePack(version));
  // A newer version, under the tag `next`, so that no test gets it without asking.
  const copy = makeTemporaryFolder();
  try {
    cpSync(samplePack("@globex/text").folder, copy.path, { recursive: true });
    const file = join(copy.path, "package.json");
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), version: "2.0.0" }));
    await publishFolders(url, [...published, copy.path], { [copy.path]: "next" });
  } finally {
    copy.remove();
  }
}

// biome-ignore lint/style/noDefaultExport: vitest calls a global setup by its default export
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const registry = await startRegistry();
  try {
    await publishEverything(registry.url);
  } catch (error) {
    await registry.close();
    throw error;
  }
  project.provide("registry", registry.url);
  return registry.close;
}
