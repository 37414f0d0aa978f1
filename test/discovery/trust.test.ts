import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join, relative } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { findPacks } from "../../src/discovery/find-packs.ts";
import type { DiscoveryPort } from "../../src/files/discovery-port.ts";
import { discoveryPort } from "../../src/files/node-discovery-port.ts";
import { discoverPacks } from "../../src/index.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { makeLink } from "../support/special-files.ts";

/** A project with packs in several layouts, whose own files must not be touched. */
function makeProjectOfPacks() {
  const place = (folder: string, name: string) => ({
    [`${folder}/package.json`]: packManifest(name, { trailblaze: { servers: ["s"], tools: ["t", "data"] } }),
    [`${folder}/trailblaze/servers/s.mjs`]: "",
    [`${folder}/trailblaze/tools/data.yaml`]: "name: t\nhandler: ../index.js\n",
    [`${folder}/trailblaze/prompts.json`]: "{}",
    [`${folder}/trailblaze.config.yaml`]: "packs: { deny: ['*', '*/*'] }",
    [`${folder}/pnpm-workspace.yaml`]: "packages: ['**']",
    [`${folder}/.pnp.cjs`]: "",
    [`${folder}/.npmrc`]: "prefix=/nowhere",
  });
  const root = makeTree({
    "package.json": {
      name: "app",
      workspaces: ["packages/*"],
      dependencies: { "@acme/jira": "*", linked: "file:linked" },
    },
    "trailblaze.config.yaml": "packs: { deny: ['stray'] }",
    "node_modules/plain/package.json": { name: "plain", main: "index.js" },
    "node_modules/broken/package.json": '{"trailblaze": ',
    ...place("node_modules/@acme/jira", "@acme/jira"),
    ...place("node_modules/plain/node_modules/nested", "nested"),
    ...place("node_modules/.store/isolated@1.0.0/node_modules/isolated", "isolated"),
    ...place("linked", "linked"),
    ...place("packages/member", "member"),
  });
  makeLink("../linked", join(root, "node_modules/linked"));
  return root;
}

const names = ["@acme/jira", "isolated", "linked", "member", "nested"];

test("discovery reads only package.json files, folders and the project's own files through its port", async () => {
  const root = makeProjectOfPacks();
  const calls: [string, string][] = [];
  const port = new Proxy(discoveryPort, {
    get(target, method: keyof DiscoveryPort) {
      const call = target[method] as (...args: unknown[]) => unknown;
      return (...args: unknown[]) => {
        const path = typeof args[0] === "string" ? relative(root, args[0]) : "";
        const file = method === "readProjectFile" || method === "hasProjectFile" ? `${args[1]}` : "";
        calls.push([method, join(path, file)]);
        return call.apply(target, args);
      };
    },
  });
  const { packs } = await findPacks(port, { cwd: root, all: true });
  expect(packs.map(({ pack }) => pack.name)).toEqual(names);

  const pathsOf = (method: keyof DiscoveryPort) =>
    calls.filter(([name]) => name === method).map(([, path]) => path);
  // Files of the project are asked for at its top, at its workspace's and above, never in an installed pack.
  for (const path of [...pathsOf("readProjectFile"), ...pathsOf("hasProjectFile")]) {
    expect(path).toMatch(/^(\.\.\/)*[^/]+$/);
  }
  // Each package.json once.
  const manifests = pathsOf("readManifest").filter((path) => path.includes("node_modules"));
  expect(manifests).toEqual([...new Set(manifests)]);
  // No folder of a pack's own is looked into: only those that hold packages.
  for (const path of pathsOf("listDirectory"))
    expect(path).toMatch(/(^packages|node_modules|node_modules\/@[^/]+|\.store)$/);
  expect(pathsOf("globalPackages")).toEqual([]);
});

test("a package.json whose opening fails is a problem", async () => {
  const code = "EMFILE";
  const root = makeTree({
    "package.json": { name: "app", dependencies: { broken: "*", zebra: "*" } },
    "node_modules/broken/package.json": packManifest("broken"),
    "node_modules/zebra/package.json": packManifest("zebra"),
  });
  const call = fs.openSync as (...args: unknown[]) => unknown;
  const spy = vi.spyOn(fs, "openSync").mockImplementation(((...args: unknown[]) => {
    if (String(args[0]).includes("broken")) throw Object.assign(new Error(code), { code });
    return call(...args);
  }) as never);
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  const { packs, problems } = await discoverPacks({ cwd: root, all: true });
  expect(packs.map(({ name }) => name)).toEqual(["zebra"]);
  const args = { reason: expect.stringContaining(code) };
  expect(problems).toMatchObject([{ code: "MalformedPackageJson", severity: "error", pack: "broken", args }]);
});
