import { join, sep } from "node:path";
import { afterEach, describe, expect, inject, test } from "vitest";
import { discoverPacks } from "../../src/index.ts";
import { type InstalledProject, installWith } from "../support/install.ts";
import { describePacks } from "../support/listing.ts";
import type { PackageManager } from "../support/package-managers.ts";
import { packManifest } from "../support/packs.ts";

const localPack = packManifest("@acme/local-pack", { trailblaze: { tools: ["lockDoor"] } });

describe("packs in a folder beside the project", () => {
  let project: InstalledProject | undefined;
  afterEach(() => project?.remove());

  async function discover(manager: PackageManager, specifier: string) {
    project = await installWith(manager, {
      registry: inject("registry"),
      dependencies: { "@acme/local-pack": specifier, "hello-tools": "^1.0.0" },
      files: { "../local-pack/package.json": localPack },
    });
    const { packs, problems } = await discoverPacks({ cwd: project.directory });
    expect(problems).toEqual([]);
    expect(describePacks(packs)).toEqual([
      "@acme/local-pack@1.0.0 direct enabled | tools: lockDoor",
      "hello-tools@1.0.0 direct enabled | tools: greet",
    ]);
    return { directory: project.directory, location: packs[0]?.location };
  }

  test.each([
    { manager: "npm", specifier: "file:../local-pack" },
    { manager: "pnpm", specifier: "link:../local-pack" },
  ] as const)(
    "a pack is listed in its own folder when $manager links it by $specifier",
    async ({ manager, specifier }) => {
      const { directory, location } = await discover(manager, specifier);

      expect(location).toBe(join(directory, "../local-pack"));
    },
  );

  test("a pack is listed once when pnpm copies it by file:", async () => {
    const { directory, location } = await discover("pnpm", "file:../local-pack");

    expect(location).toContain(`${join(directory, "node_modules")}${sep}`);
  });
});
