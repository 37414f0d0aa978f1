import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test, vi } from "vitest";
import { validateAsInstalled } from "../../src/as-installed/validate-as-installed.ts";
import { watchPack } from "../../src/author/watch-pack.ts";
import { formatRemotePacks } from "../../src/cli/remote/format-remote-packs.ts";
import { addPacks } from "../../src/npm/add-packs.ts";
import { removePacks } from "../../src/npm/remove-packs.ts";
import { searchPacks } from "../../src/remote.ts";
import { startServer } from "../../src/serve.ts";
import { openSession } from "../../src/session.ts";
import { setPolicy } from "../support/machine-policy.ts";
import { makeTar } from "../support/make-tar.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { writeTree } from "../support/tree.ts";
import { useManagers } from "./changeable-project.ts";
import { startStandIn } from "./stand-in-registry.ts";
import { useHome } from "./user-home.ts";

vi.mock("../../src/files/policy-location.ts", () => import("../support/machine-policy.ts"));

const name = "tb-governed";
const contact = "it@acme.example";

/** A project whose registry has one pack, version 1.0.0. */
async function setUp(files: object = {}) {
  const manifest = packManifest(name, { trailblaze: { tools: ["run"] } });
  const tar = makeTar([{ path: "package/package.json", text: JSON.stringify(manifest) }]);
  const data = gzipSync(tar);
  const integrity = `sha512-${createHash("sha512").update(data).digest("base64")}`;
  const registry = await startStandIn({
    intercept: ({ path }, response) => path.endsWith(".tgz") && response.end(data) !== undefined,
  });
  registry.options.manifests = [{ ...manifest, dist: { tarball: `${registry.url}x.tgz`, integrity } }];
  useHome([`registry=${registry.url}`]);
  const cwd = makeTree({ "package.json": { name: "app" }, ...files });
  const add = async (spec = name) => {
    const previews: string[] = [];
    const { declined } = await addPacks([spec], {
      cwd,
      consent(shown) {
        previews.push(...shown.map(({ pack }) => pack.name));
        return false;
      },
    });
    return { previews, declined };
  };
  return { cwd, registry, add };
}

const denied = (args: object) => ({
  code: "DeniedByPolicy",
  message: expect.stringContaining(contact),
  problem: { severity: "error", args },
});

describe("adding packs under an administrator's policy", () => {
  test.each([
    [{ install: false }, { what: "install", name }],
    [{ packs: { allow: ["@acme/*"] } }, { what: "pack", name }],
    [{ packs: { deny: ["tb-*"] } }, { what: "pack", name }],
    [{ registries: ["https://npm.acme.example/"] }, { what: "registry", name }],
    [{ registries: [] }, { what: "registry", name }],
  ])("with %j, nothing is requested from the registry", async (policy, args) => {
    const { registry, add } = await setUp();
    setPolicy({ ...policy, contact });
    await expect(add()).rejects.toMatchObject(denied(args));
    expect(registry.seen).toEqual([]);
  });

  test.each([
    [{ packs: { allow: ["tb-governed@^2.0"] } }, { what: "pack", version: "1.0.0" }],
    [{ packs: { deny: ["tb-governed@<1.1"] } }, { what: "pack", version: "1.0.0" }],
  ])("with %j, the package of an excluded version is not fetched", async (policy, args) => {
    const { registry, add } = await setUp();
    setPolicy({ ...policy, contact });
    await expect(add()).rejects.toMatchObject(denied(args));
    expect(registry.paths()).not.toContain("/x.tgz");
  });

  test("what the policy allows is shown and asked about as without a policy", async () => {
    const { registry, add } = await setUp();
    setPolicy({
      install: true,
      packs: { allow: ["tb-governed@^1.0"], deny: ["tb-governed@<1.0"] },
      registries: [registry.url.replace(/\/$/, "")],
    });
    expect(await add()).toEqual({ previews: [name], declined: true });
  });

  test("the registry of a scope is compared, not only the default one", async () => {
    const { registry, add, cwd } = await setUp();
    const scoped = "http://127.0.0.1:1/";
    useHome([`registry=${registry.url}`, `@acme:registry=${scoped}`]);
    setPolicy({ registries: [registry.url], contact });
    await expect(add("@acme/jira")).rejects.toMatchObject(denied({ what: "registry", registry: scoped }));
    expect(readFileSync(join(cwd, "package.json"), "utf8")).not.toContain("acme");
  });
});

describe("the registry of the package manager under an administrator's policy", () => {
  /** A project of a package manager, whose own configuration names another registry than npm's. */
  const files = {
    "npm@10.0.0": { ".npmrc": (registry: string) => `registry=${registry}\n` },
    "pnpm@9.15.9": { ".npmrc": (registry: string) => `@tb:registry=${registry}\n` },
    "yarn@1.22.22": { ".yarnrc": (registry: string) => `registry "${registry}"\n` },
  };

  test.each(Object.entries(files))("the registry that %s would use is compared", async (manager, file) => {
    const { registry, cwd, add } = await setUp();
    useManagers(registry.url);
    const [[path, write] = []] = Object.entries(file);
    const manifest = { name: "app", packageManager: manager };
    const configure = (address: string) =>
      writeTree(cwd, { "package.json": manifest, [path ?? ""]: write?.(address) ?? "" });
    const spec = manager.startsWith("pnpm") ? "@tb/scoped" : name;
    setPolicy({ registries: [registry.url], contact });
    // Variables of npm take precedence over files of the project.
    vi.stubEnv("npm_config_registry", undefined);
    configure("http://127.0.0.1:1/");
    await expect(add(spec)).rejects.toMatchObject(
      denied({ what: "registry", name: spec, registry: "http://127.0.0.1:1/" }),
    );
    expect(registry.seen).toEqual([]);
    configure(registry.url);
    if (spec === name) expect(await add(spec)).toEqual({ previews: [name], declined: true });
    else await expect(add(spec)).rejects.toMatchObject({ code: "InstallFailed" });
  });
});

describe("installing missing packs under an administrator's policy", () => {
  const files = {
    "trailblaze.config.json": JSON.stringify({
      logDir: "logs",
      toolsets: { mine: [`${name}/run`] },
      packs: { autoInstall: ["tb-*"] },
    }),
  };

  test.each([
    [{ install: false }, "install"],
    [{ packs: { allow: ["@acme/*"] } }, "pack"],
    [{ registries: ["https://npm.acme.example/"] }, "registry"],
  ])("with %j, neither autoInstall nor install: true installs a pack", async (policy, what) => {
    const { cwd, registry } = await setUp(files);
    setPolicy(policy);
    for (const install of [undefined, true]) {
      const session = await openSession({ cwd, ...(install === undefined ? {} : { install }) });
      try {
        expect(session.problems).toContainEqual(
          expect.objectContaining({ code: "DeniedByPolicy", args: expect.objectContaining({ what, name }) }),
        );
      } finally {
        await session.close();
      }
    }
    await expect(
      startServer(`${name}@^1.0/run`, { cwd, install: true, transport: {} }),
    ).rejects.toMatchObject({ code: "DeniedByPolicy" });
    expect(registry.seen).toEqual([]);
  });
});

describe("searching under an administrator's policy", () => {
  const style = { color: false, width: undefined };

  test.each([
    [{ registries: ["https://npm.acme.example/"] }, "registry"],
    [{ packs: { deny: ["tb-*"] } }, "pack"],
  ])("with %j, a hit is marked with the reason", async (policy, what) => {
    const { cwd } = await setUp();
    setPolicy(policy);
    const found = await searchPacks("", { cwd });
    expect(found.packs.map((pack) => [pack.name, pack.problems])).toMatchObject([
      [name, [{ code: "DeniedByPolicy", severity: "info", args: { what } }]],
    ]);
    expect(formatRemotePacks(found, style)).toMatch(
      /INSTALLED\s+ALLOWED[\s\S]*tb-governed\s+1\.0\.0\s+no\s+no/,
    );
  });

  test("hits that the policy allows are not marked", async () => {
    const { cwd, registry } = await setUp();
    setPolicy({ registries: [registry.url], packs: { allow: ["tb-*"] } });
    const found = await searchPacks("", { cwd });
    expect(found).toMatchObject({ packs: [{ name, problems: [] }], problems: [] });
    expect(formatRemotePacks(found, style)).not.toContain("ALLOWED");
  });

  test("a search with a policy that cannot be used has a warning", async () => {
    const { cwd } = await setUp();
    setPolicy("{");
    expect(await searchPacks("", { cwd })).toMatchObject({
      packs: [{ name }],
      problems: [{ code: "PolicyMalformed", severity: "warning" }],
    });
  });
});

describe("a policy that cannot be used, in what installs and runs packs", () => {
  test("nothing is added, removed, watched or validated as installed", async () => {
    const { cwd, registry, add } = await setUp();
    setPolicy('{ "install": true, "install": false }');
    const rejection = { code: "PolicyMalformed" };
    await expect(add()).rejects.toMatchObject(rejection);
    await expect(removePacks([name], { cwd })).rejects.toMatchObject(rejection);
    const pack = makeTree({ "package.json": packManifest("mine") });
    await expect(watchPack(pack, { once: true })).rejects.toMatchObject(rejection);
    await expect(asInstalled(pack)).rejects.toMatchObject(rejection);
    expect(registry.seen).toEqual([]);
  });

  const asInstalled = (pack: string) =>
    validateAsInstalled(pack, "mine", {
      tarballs: [],
      offline: true,
      requireConfinement: false,
      signal: new AbortController().signal,
      onCommand: (command) => {
        throw new Error(`${command} must not run`);
      },
    });

  test("install: false and packs also bind a validation as installed", async () => {
    const pack = makeTree({ "package.json": packManifest("mine") });
    for (const policy of [{ install: false }, { packs: { deny: ["mine"] } }]) {
      setPolicy(policy);
      await expect(asInstalled(pack)).rejects.toMatchObject({ code: "DeniedByPolicy" });
    }
  });
});
