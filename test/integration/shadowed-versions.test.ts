import { afterEach, describe, expect, inject, test } from "vitest";
import { discoverPacks } from "../../src/index.ts";
import { type InstalledProject, installWith } from "../support/install.ts";
import { describeOrigins } from "../support/listing.ts";
import { type PackageManager, packageManagers } from "../support/package-managers.ts";

describe.each(packageManagers)("two versions of one pack, installed by %s", (manager: PackageManager) => {
  let project: InstalledProject | undefined;
  afterEach(() => project?.remove());

  async function discover(dependencies: Record<string, string>) {
    project = await installWith(manager, { registry: inject("registry"), dependencies });
    return discoverPacks({ cwd: project.directory, all: true });
  }

  test("the project's own dependency shadows the copy of another pack", async () => {
    const { packs, problems } = await discover({ "@globex/release-desk": "^3.0.0", "@globex/text": "2.0.0" });

    expect(describeOrigins(packs)).toEqual([
      "@acme/jira@1.2.0 transitive on demand",
      "@globex/release-desk@3.0.0 direct enabled",
      "@globex/text@1.0.0 transitive disabled shadowed",
      "@globex/text@2.0.0 direct enabled",
      "hello-tools@1.0.0 transitive on demand",
    ]);
    expect([...problems, ...packs.flatMap((pack) => pack.problems)]).toEqual([
      expect.objectContaining({ code: "ShadowedPack", severity: "warning", pack: "@globex/text" }),
    ]);
  });

  test("an alias of another version is listed under the name that it is installed as", async () => {
    const { packs } = await discover({ "@globex/text": "1.0.0", "text-next": "npm:@globex/text@2.0.0" });

    expect(describeOrigins(packs)).toEqual([
      "@globex/text@1.0.0 direct enabled",
      "text-next@2.0.0 direct enabled",
    ]);
  });
});
