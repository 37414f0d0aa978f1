import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { findGlobalPackages } from "../../src/files/npm-configuration.ts";
import { discoverPacks } from "../../src/index.ts";
import { describeOrigins } from "../support/listing.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { makeLink } from "../support/special-files.ts";

describe.skipIf(process.platform === "win32")("globally installed packs", () => {
  function usePrefix(tree: Record<string, unknown>): string {
    const prefix = makeTree(tree);
    vi.stubEnv("npm_config_prefix", prefix);
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
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

  test("a global link to the project is the project itself", async () => {
    const cwd = makeTree({ "package.json": packManifest("app") });
    const prefix = usePrefix({ "lib/node_modules/npm/package.json": { name: "npm" } });
    makeLink(cwd, join(prefix, "lib/node_modules/app"));
    expect(describeOrigins((await discoverPacks({ cwd, global: true })).packs)).toEqual([
      "app@1.0.0 self enabled",
    ]);
  });

  test("problems of broken global packs are warnings", async () => {
    usePrefix({ "lib/node_modules/broken/package.json": '{"trailblaze": ' });
    const { problems } = await discoverPacks({ cwd: makeTree(project), global: true });
    expect(problems).toEqual([
      expect.objectContaining({ code: "MalformedPackageJson", severity: "warning" }),
    ]);
  });

  test("a global prefix that does not exist has no packs", async () => {
    vi.stubEnv("npm_config_prefix", "/nowhere/at/all");
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const { packs, problems } = await discoverPacks({ cwd: makeTree(project), global: true });
    expect(packs).toHaveLength(1);
    expect(problems).toEqual([]);
  });
});

describe("npm's global folder", () => {
  const node = "/usr/local/bin/node";
  const home = () => makeTree({});

  test("by default, npm's global folder is next to Node", () => {
    expect(findGlobalPackages({ env: {}, platform: "linux", execPath: node, home: home() })).toBe(
      "/usr/local/lib/node_modules",
    );
    expect(
      findGlobalPackages({ env: {}, platform: "darwin", execPath: "/opt/homebrew/bin/node", home: home() }),
    ).toBe("/opt/homebrew/lib/node_modules");
  });

  test("on Windows, npm's global folder is in the user's application data, without lib", () => {
    const env = { APPDATA: "C:\\Users\\me\\AppData\\Roaming" };
    expect(
      findGlobalPackages({ env, platform: "win32", execPath: "C:\\node\\node.exe", home: "C:\\Users\\me" }),
    ).toBe("C:\\Users\\me\\AppData\\Roaming\\npm\\node_modules");
    expect(
      findGlobalPackages({
        env: {},
        platform: "win32",
        execPath: "C:\\node\\node.exe",
        home: "C:\\Users\\me",
      }),
    ).toBe("C:\\node\\node_modules");
  });

  test.each(["npm_config_prefix", "NPM_CONFIG_PREFIX"])("npm's global folder follows %s", (name) => {
    const env = { [name]: "/opt/npm" };
    expect(findGlobalPackages({ env, platform: "linux", execPath: node, home: home() })).toBe(
      "/opt/npm/lib/node_modules",
    );
  });

  test("npm's global folder follows the user's npmrc, with ~ and variables expanded", () => {
    const user = makeTree({ ".npmrc": "prefix = ~/.npm-global\n" });
    expect(findGlobalPackages({ env: {}, platform: "linux", execPath: node, home: user })).toBe(
      join(user, ".npm-global/lib/node_modules"),
    );
    const other = makeTree({ ".npmrc": `; mine\nregistry=x\nprefix=\${BASE}/npm\n` });
    expect(
      findGlobalPackages({ env: { BASE: "/data" }, platform: "linux", execPath: node, home: other }),
    ).toBe("/data/npm/lib/node_modules");
  });

  test("npm's global folder follows the user config that the environment names", () => {
    const other = makeTree({ "my.npmrc": "prefix=/from/mine\n" });
    const env = { npm_config_userconfig: join(other, "my.npmrc") };
    expect(findGlobalPackages({ env, platform: "linux", execPath: node, home: home() })).toBe(
      "/from/mine/lib/node_modules",
    );
  });

  test("npm's global folder follows the user's npmrc first, then the global npmrc", () => {
    const installation = makeTree({ "etc/npmrc": "prefix=/from/global\n", "bin/node": "" });
    const execPath = join(installation, "bin/node");
    expect(findGlobalPackages({ env: {}, platform: "linux", execPath, home: home() })).toBe(
      "/from/global/lib/node_modules",
    );
    const user = makeTree({ ".npmrc": "prefix=/from/user\n" });
    expect(findGlobalPackages({ env: {}, platform: "linux", execPath, home: user })).toBe(
      "/from/user/lib/node_modules",
    );
  });

  test("npm's global folder follows the environment before any file", () => {
    const user = makeTree({ ".npmrc": "prefix=/from/user\n" });
    expect(
      findGlobalPackages({
        env: { npm_config_prefix: "/from/env" },
        platform: "linux",
        execPath: node,
        home: user,
      }),
    ).toBe("/from/env/lib/node_modules");
  });
});
