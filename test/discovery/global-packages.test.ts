import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { findGlobalPackages } from "../../src/files/npm-configuration.ts";
import { discoverPacks } from "../../src/index.ts";
import { describeOrigins } from "../support/listing.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { makeLink } from "../support/special-files.ts";

describe.skipIf(process.platform === "win32")("packs that are installed globally", () => {
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

  test("are listed only on request, and no session takes them", async () => {
    usePrefix({
      "lib/node_modules/@acme/jira/package.json": packManifest("@acme/jira"),
      "lib/node_modules/npm/package.json": { name: "npm" },
      "lib/node_modules/npm/node_modules/inner/package.json": packManifest("inner"),
    });
    const cwd = makeTree(project);
    expect(describeOrigins((await discoverPacks({ cwd })).packs)).toEqual(["notes@1.0.0 direct enabled"]);
    expect(describeOrigins((await discoverPacks({ cwd, global: false })).packs)).toHaveLength(1);
    expect(describeOrigins((await discoverPacks({ cwd, global: true })).packs)).toEqual([
      "@acme/jira@1.0.0 global disabled",
      "inner@1.0.0 global disabled",
      "notes@1.0.0 direct enabled",
    ]);
  });

  test("that the project has itself, lower or higher, are shadowed by its own", async () => {
    usePrefix({ "lib/node_modules/notes/package.json": packManifest("notes", { version: "9.0.0" }) });
    const { packs } = await discoverPacks({ cwd: makeTree(project), global: true });
    expect(describeOrigins(packs)).toEqual([
      "notes@1.0.0 direct enabled",
      "notes@9.0.0 global disabled shadowed",
    ]);
  });

  test("and linked to the project itself are the project", async () => {
    const cwd = makeTree({ "package.json": packManifest("app") });
    const prefix = usePrefix({ "lib/node_modules/npm/package.json": { name: "npm" } });
    makeLink(cwd, join(prefix, "lib/node_modules/app"));
    expect(describeOrigins((await discoverPacks({ cwd, global: true })).packs)).toEqual([
      "app@1.0.0 self enabled",
    ]);
  });

  test("that are broken are warnings", async () => {
    usePrefix({ "lib/node_modules/broken/package.json": '{"trailblaze": ' });
    const { problems } = await discoverPacks({ cwd: makeTree(project), global: true });
    expect(problems).toEqual([
      expect.objectContaining({ code: "MalformedPackageJson", severity: "warning" }),
    ]);
  });

  test("from a prefix that does not exist are none", async () => {
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

  test("lies beside Node by default", () => {
    expect(findGlobalPackages({ env: {}, platform: "linux", execPath: node, home: home() })).toBe(
      "/usr/local/lib/node_modules",
    );
    expect(
      findGlobalPackages({ env: {}, platform: "darwin", execPath: "/opt/homebrew/bin/node", home: home() }),
    ).toBe("/opt/homebrew/lib/node_modules");
  });

  test("lies on Windows in the user's application data, without lib", () => {
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

  test.each(["npm_config_prefix", "NPM_CONFIG_PREFIX"])("follows %s", (name) => {
    const env = { [name]: "/opt/npm" };
    expect(findGlobalPackages({ env, platform: "linux", execPath: node, home: home() })).toBe(
      "/opt/npm/lib/node_modules",
    );
  });

  test("follows the user's npmrc, with ~ and variables", () => {
    const user = makeTree({ ".npmrc": "prefix = ~/.npm-global\n" });
    expect(findGlobalPackages({ env: {}, platform: "linux", execPath: node, home: user })).toBe(
      join(user, ".npm-global/lib/node_modules"),
    );
    const other = makeTree({ ".npmrc": `; mine\nregistry=x\nprefix=\${BASE}/npm\n` });
    expect(
      findGlobalPackages({ env: { BASE: "/data" }, platform: "linux", execPath: node, home: other }),
    ).toBe("/data/npm/lib/node_modules");
  });

  test("follows another user config, where the environment names one", () => {
    const other = makeTree({ "my.npmrc": "prefix=/from/mine\n" });
    const env = { npm_config_userconfig: join(other, "my.npmrc") };
    expect(findGlobalPackages({ env, platform: "linux", execPath: node, home: home() })).toBe(
      "/from/mine/lib/node_modules",
    );
  });

  test("follows the global npmrc, but the user's first", () => {
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

  test("follows the environment before every file", () => {
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
