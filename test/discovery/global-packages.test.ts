import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { findGlobalPackages } from "../../src/files/npm-configuration.ts";
import { discoverPacks } from "../../src/index.ts";
import { describeOrigins } from "../support/listing.ts";
import { makeTree, packManifest } from "../support/packs.ts";

describe.skipIf(process.platform === "win32")("globally installed packs", () => {
  function usePrefix(tree: Record<string, unknown>): string {
    const prefix = makeTree(tree);
    vi.stubEnv("npm_config_prefix", prefix);
    return prefix;
  }
  const project = {
    "package.json": { name: "app", dependencies: { notes: "*" } },
    "node_modules/notes/package.json": packManifest("notes"),
  };

  test("globally installed packs are listed only on request, and no session uses them", async () => {
    usePrefix({
      "lib/node_modules/@acme/jira/package.json": packManifest("@acme/jira"),
      "lib/node_modules/npm/package.json": { name: "npm" },
      "lib/node_modules/npm/node_modules/inner/package.json": packManifest("inner"),
    });
    const cwd = makeTree(project);
    expect(describeOrigins((await discoverPacks({ cwd })).packs)).toEqual(["notes@1.0.0 direct enabled"]);
    expect(describeOrigins((await discoverPacks({ cwd, global: false })).packs)).toHaveLength(1);
    const both = ["@acme/jira@1.0.0 global disabled", "notes@1.0.0 direct enabled"];
    for (const all of [false, true])
      expect(describeOrigins((await discoverPacks({ cwd, global: true, all })).packs)).toEqual(both);
  });

  test("the project's own copy of a pack shadows the global copy, whichever version is higher", async () => {
    usePrefix({ "lib/node_modules/notes/package.json": packManifest("notes", { version: "9.0.0" }) });
    const { packs } = await discoverPacks({ cwd: makeTree(project), global: true });
    expect(describeOrigins(packs)).toEqual([
      "notes@1.0.0 direct enabled",
      "notes@9.0.0 global disabled shadowed",
    ]);
  });
});

type Place = Partial<Parameters<typeof findGlobalPackages>[0]>;
const windows = { platform: "win32", execPath: "C:\\node\\node.exe", home: "C:\\Users\\me" } as const;

test.each<[what: string, place: Place, npmrc: string, expected: string]>([
  ["is next to Node by default", {}, "", "/usr/local/lib/node_modules"],
  [
    "is in the user's application data on Windows, without lib",
    { ...windows, env: { APPDATA: "C:\\Users\\me\\AppData\\Roaming" } },
    "",
    "C:\\Users\\me\\AppData\\Roaming\\npm\\node_modules",
  ],
  ["follows npm_config_prefix", { env: { npm_config_prefix: "/opt/npm" } }, "", "/opt/npm/lib/node_modules"],
  ["follows the user's npmrc, with ~", {}, "prefix = ~/.npm-global\n", "HOME/.npm-global/lib/node_modules"],
  [
    "follows the user's npmrc, with variables",
    { env: { BASE: "/data" } },
    "; mine\nregistry=x\nprefix=${BASE}/npm\n",
    "/data/npm/lib/node_modules",
  ],
])("npm's global folder %s", (_what, place, npmrc, expected) => {
  const home = makeTree({ ".npmrc": npmrc });
  const found = findGlobalPackages({
    env: {},
    platform: "linux",
    execPath: "/usr/local/bin/node",
    home,
    ...place,
  });
  expect(found).toBe(expected.replace("HOME", home));
});

test("npm's global folder follows the config that the environment names, the user's npmrc, then the global one", () => {
  const installation = makeTree({
    "etc/npmrc": "prefix=/global\n",
    "my.npmrc": "prefix=/mine\n",
    "bin/node": "",
  });
  const find = (tree: Record<string, unknown>, env: Record<string, string> = {}) =>
    findGlobalPackages({
      env,
      platform: "linux",
      execPath: join(installation, "bin/node"),
      home: makeTree(tree),
    });
  expect(find({}, { npm_config_userconfig: join(installation, "my.npmrc") })).toBe("/mine/lib/node_modules");
  expect(find({ ".npmrc": "prefix=/user\n" })).toBe("/user/lib/node_modules");
  expect(find({})).toBe("/global/lib/node_modules");
});
