import { join, sep } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { discoverPacks } from "../../src/index.ts";
import { installWith } from "../support/install.ts";
import { describePacks } from "../support/listing.ts";
import { packManifest } from "../support/packs.ts";

const localPack = packManifest("@acme/local-pack", { trailblaze: { tools: ["lockDoor"] } });

test.each([
  { manager: "npm", specifier: "file:../local-pack", isCopied: false },
  { manager: "pnpm", specifier: "file:../local-pack", isCopied: true },
] as const)(
  "a pack beside the project that $manager has by $specifier is listed once, in its own folder unless it is copied",
  async ({ manager, specifier, isCopied }) => {
    const { directory, remove } = await installWith(manager, {
      registry: inject("registry"),
      dependencies: { "@acme/local-pack": specifier, "hello-tools": "^1.0.0" },
      files: { "../local-pack/package.json": localPack },
    });
    onTestFinished(remove);
    const { packs, problems } = await discoverPacks({ cwd: directory });
    expect(problems).toEqual([]);
    expect(describePacks(packs)).toEqual([
      "@acme/local-pack@1.0.0 direct enabled | tools: lockDoor",
      "hello-tools@1.0.0 direct enabled | tools: greet",
    ]);
    if (isCopied) expect(packs[0]?.location).toContain(`${join(directory, "node_modules")}${sep}`);
    else expect(packs[0]?.location).toBe(join(directory, "../local-pack"));
  },
);
