import { afterEach, describe, expect, inject, test } from "vitest";
import { discoverPacks } from "../../src/index.ts";
import { type InstalledProject, installWith } from "../support/install.ts";
import { describeOrigins } from "../support/listing.ts";

describe("packs installed in a layout that is not the package manager's default", () => {
  let project: InstalledProject | undefined;
  afterEach(() => project?.remove());

  test.each([
    { manager: "npm", setting: "install-strategy=nested" },
    { manager: "npm", setting: "install-strategy=linked" },
    { manager: "pnpm", setting: "node-linker=hoisted" },
    { manager: "pnpm", setting: "shamefully-hoist=true" },
    // Makes folder names of the store that do not tell the package.
    { manager: "pnpm", setting: "virtual-store-dir-max-length=20" },
  ] as const)("packs are found with $manager and $setting", async ({ manager, setting }) => {
    project = await installWith(manager, {
      registry: inject("registry"),
      dependencies: { "@globex/release-desk": "^3.0.0", "@globex/text": "2.0.0", "is-number": "^7.0.0" },
      files: { ".npmrc": `${setting}\n` },
    });

    const { packs, problems } = await discoverPacks({ cwd: project.directory, all: true });

    expect(describeOrigins(packs)).toEqual([
      "@acme/jira@1.2.0 transitive on demand",
      "@globex/release-desk@3.0.0 direct enabled",
      "@globex/text@1.0.0 transitive disabled shadowed",
      "@globex/text@2.0.0 direct enabled",
      "hello-tools@1.0.0 transitive on demand",
    ]);
    expect(problems).toEqual([]);
    const declared = await discoverPacks({ cwd: project.directory });
    expect(declared.packs).toEqual(packs.filter(({ origin }) => origin === "direct"));
  });
});
