import { join } from "node:path";
import { expect, inject, onTestFinished, test, vi } from "vitest";
import { discoverPacks } from "../../src/index.ts";
import { describeOrigins } from "../support/listing.ts";
import { runPackageManager } from "../support/package-managers.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

async function installGlobally(packages: readonly string[]): Promise<string> {
  const folder = makeTemporaryFolder();
  onTestFinished(folder.remove);
  const prefix = join(folder.path, "prefix");
  await runPackageManager("npm", ["install", "--global", "--prefix", prefix, ...packages], {
    cwd: folder.path,
    registry: inject("registry"),
    home: join(folder.path, "home"),
  });
  return prefix;
}

test("the top level of packs that npm installed globally is listed on request only", async () => {
  const prefix = await installGlobally(["@globex/release-desk", "weather-tools"]);
  vi.stubEnv("npm_config_prefix", prefix);
  const cwd = makeTree({
    "package.json": { name: "app", dependencies: { "@globex/text": "2.0.0", "weather-tools": "^1.0.0" } },
    "node_modules/@globex/text/package.json": packManifest("@globex/text", { version: "2.0.0" }),
    "node_modules/weather-tools/package.json": packManifest("weather-tools", { version: "1.3.0" }),
  });

  const without = await discoverPacks({ cwd });
  expect(describeOrigins(without.packs)).toEqual([
    "@globex/text@2.0.0 direct enabled",
    "weather-tools@1.3.0 direct enabled",
  ]);

  const { packs } = await discoverPacks({ cwd, global: true });
  expect(new Set(describeOrigins(packs))).toEqual(
    new Set([
      "@globex/release-desk@3.0.0 global disabled",
      "@globex/text@2.0.0 direct enabled",
      "weather-tools@1.3.0 direct enabled",
      "weather-tools@1.3.0 global disabled shadowed",
    ]),
  );
});
