// Packages whose commands take over Trailblaze's: what real package managers link, and what is refused or seen.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, inject, test } from "vitest";
import { createCommand } from "../../src/install/entry.ts";
import { planAdd } from "../../src/npm/add-packs.ts";
import { makeProject, packQuickly, readState, useManagers } from "../npm/changeable-project.ts";
import { startRegistryProxy } from "../npm/registry-proxy.ts";
import { runPackageManager, startPackageManager } from "../support/package-managers.ts";
import { packManifest } from "../support/packs.ts";
import { publish } from "../support/publish.ts";

/** A program that says who was run. */
const program = (name: string) =>
  `#!/usr/bin/env node\nconsole.log("${name}", process.argv.slice(2).join(" "));\n`;

/** What the project has of `trailblaze`: a package with a command of that name, and its export. */
const host = {
  "../trailblaze/package.json": {
    name: "trailblaze",
    version: "1.0.0",
    bin: { trailblaze: "cli.cjs" },
    exports: { "./cli": "./cli.cjs" },
  },
  "../trailblaze/cli.cjs": program("genuine"),
};
const dependencies = { trailblaze: "file:../trailblaze" };

const prompt = { name: "hello", description: "Says hello.", content: "Say hello." };

const publishPackage = (name: string, fields: Record<string, unknown> = {}) =>
  publish(inject("registry"), {
    "package.json": { name, version: "1.0.0", ...fields },
    "taker.js": program(name),
    "trailblaze/prompts/hello.json": prompt,
  });
const publishPack = (name: string, fields: Record<string, unknown> = {}) =>
  publishPackage(name, packManifest(name, { trailblaze: { prompts: ["hello"] }, ...fields }));

beforeAll(async () => {
  const takes = { bin: { trailblaze: "taker.js" } };
  await publishPack("tb-taker", takes);
  // A pack that has a package with the command, two steps away.
  await publishPackage("tb-zzz-taker", takes);
  await publishPackage("tb-middle", { dependencies: { "tb-zzz-taker": "1.0.0" } });
  await publishPack("tb-carrier", { dependencies: { "tb-middle": "1.0.0" } });
  await publishPack("tb-zzz-direct", { bin: { trailblaze: "taker.js", node: "taker.js" } });
  await publishPack("tb-harmless");
  await publishPack("tb-silent");
  const script = `require("node:fs").writeFileSync(require("node:path").join(process.env.INIT_CWD, "built"), "")`;
  await publish(inject("registry"), {
    "package.json": { name: "tb-zzz-native", version: "1.0.0", scripts: { install: "node build.js" } },
    "build.js": script,
  });
  await publishPack("tb-scripted", { dependencies: { "tb-zzz-native": "1.0.0" } });
});

async function makeHost(registry: string = inject("registry")) {
  packQuickly(useManagers(registry));
  return makeProject("npm", { registry, dependencies, files: host });
}

const commandOf = (directory: string) =>
  execFileSync(join(directory, "node_modules/.bin/trailblaze"), ["list"], { encoding: "utf8" }).trim();

/** Makes the registry's document of a package have these fields. */
const announce = (name: string, fields: object) => (_path: string, document: Record<string, unknown>) => {
  if (document.name !== name) return document;
  if (!("versions" in document)) return { ...document, ...fields };
  const versions = Object.entries(document.versions as Record<string, object>);
  const changed = versions.map(([version, manifest]) => [version, { ...manifest, ...fields }]);
  return { ...document, versions: Object.fromEntries(changed) };
};

test("add rejects a trailblaze command of a pack before it changes anything, and restores the project if a dependency has one", async () => {
  const proxy = await startRegistryProxy(inject("registry"));
  proxy.rewrite = announce("tb-silent", { bin: { trailblaze: "taker.js" } });
  const directory = await makeHost(proxy.url);
  const before = readState(directory);
  const plan = (name: string) => planAdd([{ name, text: name }], { cwd: directory });
  await expect(plan("tb-taker")).rejects.toMatchObject({
    code: "ReservedCommand",
    problem: { args: { package: "tb-taker 1.0.0", command: "trailblaze" } },
  });
  // Only the registry's document declares it.
  await expect(plan("tb-silent")).rejects.toMatchObject({ code: "ReservedCommand" });
  await expect((await plan("tb-carrier")).apply()).rejects.toMatchObject({
    code: "ReservedCommand",
    problem: { args: { package: "tb-zzz-taker 1.0.0", command: "trailblaze", restored: true } },
  });
  expect(readState(directory)).toEqual(before);
  expect(commandOf(directory)).toBe("genuine list");
});

test("a trailblaze command that the package manager installed is run by no client", async () => {
  const registry = inject("registry");
  const directory = await makeHost();
  const home = join(directory, "../home");
  await runPackageManager("npm", ["install", "tb-zzz-direct"], { cwd: directory, registry, home });

  const [command = "", ...args] = createCommand("project", directory, {
    server: "acme/jira/desk",
    isHttp: true,
  });
  const below = join(directory, "src/deep");
  mkdirSync(below, { recursive: true });
  for (const cwd of [directory, below])
    expect(execFileSync(command, args, { cwd, encoding: "utf8" })).toBe(
      "genuine start acme/jira/desk --stdio\n",
    );

  // It was there before, so that it is no reason to take anything back.
  const plan = await planAdd([{ name: "tb-harmless", text: "tb-harmless" }], { cwd: directory });
  expect((await plan.apply()).added.map(({ name }) => name)).toEqual(["tb-harmless"]);
});

test("add names the packages whose install scripts were not run, and a command that runs them", async () => {
  const directory = await makeHost();
  const plan = await planAdd([{ name: "tb-scripted", text: "tb-scripted" }], { cwd: directory });
  const { problems } = await plan.apply();
  const built = join(directory, "built");
  expect(existsSync(built)).toBe(false);
  const [note] = problems.filter(({ code }) => code === "LifecycleScript");
  expect(note).toMatchObject({ severity: "info", args: { packages: ["tb-zzz-native"] } });
  const { command = "" } = (note?.args ?? {}) as { command?: string };
  const [name, ...args] = command.split(" ");
  expect(name).toBe("npm");
  const home = join(directory, "../home");
  const options = { cwd: directory, registry: inject("registry"), home };
  await once(startPackageManager("npm", args, options), "exit");
  expect(existsSync(built)).toBe(true);
});
