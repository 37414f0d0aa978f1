import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { discoverPacks } from "../../src/index.ts";
import { readIntegrities } from "../../src/lock/read-integrity.ts";
import { makeProject, useManagers, useYarn4 } from "../npm/changeable-project.ts";
import { installWith } from "../support/install.ts";
import { packageManagers } from "../support/package-managers.ts";

// Depends on older versions of two of the others, so one package is there twice.
const dependencies = {
  "@globex/release-desk": "^3.0.0",
  "@globex/text": "2.0.0",
  renamed: "npm:hello-tools@1.0.0",
};
const local = { name: "local-pack", version: "1.0.0", trailblaze: {} };

/** The integrities that were read for the packs of a project and for a linked pack, by name and version. */
async function readAll(cwd: string): Promise<Record<string, string | undefined>> {
  const { packs } = await discoverPacks({ cwd });
  const found = readIntegrities([cwd], packs);
  return Object.fromEntries(packs.map((pack) => [`${pack.name}@${pack.version}`, found.get(pack.location)]));
}

/** What the registry says of a package. */
async function published(name: string, version: string): Promise<string> {
  const response = await fetch(`${inject("registry")}${encodeURIComponent(name)}`);
  const { versions } = (await response.json()) as {
    versions: Record<string, { dist: { integrity: string } }>;
  };
  return versions[version]?.dist.integrity ?? "absent";
}

const names = [
  ["@acme/jira", "1.2.0"],
  ["@globex/release-desk", "3.0.0"],
  ["@globex/text", "1.0.0"],
  ["@globex/text", "2.0.0"],
  ["hello-tools", "1.0.0"],
] as const;

test.each([
  ...packageManagers.map((manager) => ({ manager, setting: "" })),
  { manager: "npm", setting: "install-strategy=nested" },
  { manager: "npm", setting: "install-strategy=linked" },
  { manager: "pnpm", setting: "node-linker=hoisted" },
  { manager: "pnpm", setting: "virtual-store-dir=../packages" },
] as const)(
  "$manager $setting: the integrity of each pack is the registry's, and a linked pack has none",
  async ({ manager, setting }) => {
    const link = manager === "npm" ? "file:../local-pack" : "link:../local-pack";
    const project = await installWith(manager, {
      registry: inject("registry"),
      dependencies: { ...dependencies, "local-pack": link },
      files: { ".npmrc": `${setting}\n`, "../local-pack/package.json": local },
    });
    onTestFinished(project.remove);

    const expected = await Promise.all(
      names.map(async ([name, version]) => [`${name}@${version}`, await published(name, version)]),
    );
    expect(await readAll(project.directory)).toEqual({
      ...Object.fromEntries(expected),
      "local-pack@1.0.0": undefined,
    });
  },
);

test("Yarn 4: the integrity of each pack is the checksum in yarn.lock, with a prefix", async () => {
  const registry = inject("registry");
  useManagers(registry);
  const cwd = await makeProject("npm", { registry, dependencies });
  await useYarn4(cwd, registry);

  const found = await readAll(cwd);
  expect(Object.keys(found).sort()).toEqual(names.map(([name, version]) => `${name}@${version}`));
  const lockfile = readFileSync(join(cwd, "yarn.lock"), "utf8");
  for (const integrity of Object.values(found)) {
    expect(integrity).toMatch(/^yarn:\w+\/[\da-f]{128}$/);
    expect(lockfile).toContain(`checksum: ${integrity?.slice("yarn:".length)}\n`);
  }
  expect(new Set(Object.values(found)).size).toBe(names.length);
});

test("npm: a pack that is installed from a tarball has an integrity", async () => {
  const registry = inject("registry");
  const project = await installWith("npm", { registry, dependencies: { "hello-tools": "1.0.0" } });
  onTestFinished(project.remove);
  const tarball = `${registry}hello-tools/-/hello-tools-1.0.0.tgz`;
  const other = await installWith("npm", { registry, dependencies: { "hello-tools": tarball } });
  onTestFinished(other.remove);
  expect(await readAll(other.directory)).toEqual(await readAll(project.directory));
  expect(Object.values(await readAll(other.directory))).toEqual([await published("hello-tools", "1.0.0")]);
});
