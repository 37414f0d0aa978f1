import { describe, expect, inject, onTestFinished, test } from "vitest";
import { discoverPacks } from "../../src/index.ts";
import { type Consumer, installWith } from "../support/install.ts";
import { describeOrigins } from "../support/listing.ts";
import type { PackageManager } from "../support/package-managers.ts";

async function install(manager: PackageManager, consumer: Omit<Consumer, "registry">) {
  const { directory, remove } = await installWith(manager, { registry: inject("registry"), ...consumer });
  onTestFinished(remove);
  return directory;
}

describe("two versions of one pack", () => {
  test.each([
    { manager: "npm", setting: "install-strategy=nested" },
    { manager: "pnpm", setting: "node-linker=hoisted" },
  ] as const)(
    "the project's own dependency shadows the copy of another pack with $manager and $setting",
    async ({ manager, setting }) => {
      const cwd = await install(manager, {
        dependencies: { "@globex/release-desk": "^3.0.0", "@globex/text": "2.0.0", "is-number": "^7.0.0" },
        files: { ".npmrc": `${setting}\n` },
      });

      const { packs, problems } = await discoverPacks({ cwd, all: true });

      expect(describeOrigins(packs)).toEqual([
        "@acme/jira@1.2.0 transitive on demand",
        "@globex/release-desk@3.0.0 direct enabled",
        "@globex/text@1.0.0 transitive disabled shadowed",
        "@globex/text@2.0.0 direct enabled",
        "hello-tools@1.0.0 transitive on demand",
      ]);
      expect(problems).toEqual([]);
      expect(packs.flatMap((pack) => pack.problems)).toEqual([
        expect.objectContaining({ code: "ShadowedPack", severity: "warning", pack: "@globex/text" }),
      ]);
      const declared = await discoverPacks({ cwd });
      expect(declared.packs).toEqual(packs.filter(({ origin }) => origin === "direct"));
    },
  );
});
