// What the guides promise authors: a pack of each template works for strangers, without an edit in between.
import { mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join, parse } from "node:path";
import fastGlob from "fast-glob";
import satisfies from "semver/functions/satisfies.js";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type TemplateName, templateNames } from "../../src/author/init-pack.ts";
import { validateExtension } from "../../src/index.ts";
import { runMain } from "../support/main.ts";
import { isolatedEnvironment, runPackageManager } from "../support/package-managers.ts";
import { inRepository } from "../support/repository.ts";
import { runProcess, runToSuccess } from "../support/run-process.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";
import { writeTree } from "../support/tree.ts";

/** A call of a tool of each template, and the result's message. */
const calls: Record<TemplateName, { args: readonly string[]; message: string }> = {
  data: { args: ["tb_data_greet", "name=Ada", "language=fr"], message: "Bonjour, Ada!" },
  typescript: { args: ["tb_typescript_greet", "name=Ada", "language=de"], message: "Guten Tag, Ada!" },
  server: { args: ["tb_server_countWords", "text=one two three"], message: '{"words":3}' },
  composed: { args: ["tb_composed_initials", "name=Ada Lovelace"], message: "AL" },
  bundle: { args: ["tb_bundle_currentWeather", "city=Lisbon"], message: "Lisbon: 21 degrees, sunny" },
};

/** The files of a new pack that work depends on, with `/`. */
const listFiles = (cwd: string) =>
  ["trailblaze", "lib", "dist", "server"].flatMap((name) =>
    fastGlob.sync(`${name}/**`, { cwd, ignore: ["**/*.ts"] }),
  );

const registry = inject("registry");
const folder = makeTemporaryFolder();
const home = join(folder.path, "home");
const tarballs = join(folder.path, "tarballs");
const hasBin = (template: TemplateName) => ["server", "composed", "bundle"].includes(template);

/** What new packs need of strangers' packages: those that this repository has are linked. */
const strangers = ["@modelcontextprotocol/sdk", "typescript"];

/** One installation in the folder above the new packs serves them all: it has what their package.json files ask for. */
beforeAll(async () => {
  mkdirSync(tarballs);
  const dependencies: Record<string, string> = {};
  for (const template of templateNames) {
    const name = `tb-${template}`;
    const init = await runMain(["init", name, "--template", template], { cwd: folder.path });
    expect(init).toMatchObject({ exitCode: 0 });
    const manifest = JSON.parse(readFileSync(join(folder.path, name, "package.json"), "utf8"));
    Object.assign(dependencies, manifest.dependencies, manifest.devDependencies);
  }
  for (const name of strangers) {
    const { version } = JSON.parse(readFileSync(inRepository(`node_modules/${name}/package.json`), "utf8"));
    expect(satisfies(version, dependencies[name] ?? ""), name).toBe(true);
    dependencies[name] = `file:${inRepository(`node_modules/${name}`)}`;
  }
  writeTree(folder.path, { "package.json": { name: "desk", private: true, dependencies } });
  await npm(folder.path, "install");
});
afterAll(folder.remove);

const npm = (cwd: string, ...args: readonly string[]) =>
  runPackageManager("npm", args, { cwd, registry, home });

/** Runs the installed command. */
const trailblaze = (cwd: string, ...args: readonly string[]) =>
  runProcess(process.execPath, [join(folder.path, "node_modules/trailblaze/dist/cli/cli.cjs"), ...args], {
    cwd,
    env: isolatedEnvironment({ cwd, registry, home }),
    timeoutMs: 100_000,
  });

test("the installed package has the schemas, and its command explains codes", async () => {
  const schemas = readdirSync(join(folder.path, "node_modules/trailblaze/schemas"));
  const kinds = ["prompt", "resource", "server", "tool", "toolset"];
  expect(schemas.sort()).toEqual(kinds.map((kind) => `${kind}.json`));
  const { stdout } = await trailblaze(folder.path, "explain", "HandlerNotFound");
  expect(stdout).toContain("# HandlerNotFound");
});

test.each(templateNames)(
  "a pack from the template %s passes its tests and validation, and is invalid without any one of its files",
  async (template) => {
    const cwd = join(folder.path, `tb-${template}`);
    const { scripts } = JSON.parse(readFileSync(join(cwd, "package.json"), "utf8"));
    if (scripts.test !== "node --test") await npm(cwd, "test");
    else await runToSuccess(process.execPath, ["--test"], { cwd, env: process.env, timeoutMs: 100_000 });
    const passes = [
      ["validate", "--strict"],
      ["docs", "--check", "--write", "README.md"],
      ...(hasBin(template) ? [["export", "bin"]] : []),
    ];
    for (const args of passes) {
      const { exitCode, stdout, stderr } = await runMain(args, { cwd });
      expect(exitCode, `${args}: ${stdout}${stderr}`).toBe(0);
    }

    const removed = join(folder.path, "removed");
    for (const file of listFiles(cwd)) {
      renameSync(join(cwd, file), removed);
      const { ok, problems } = await validateExtension(cwd);
      renameSync(removed, join(cwd, file));
      expect(ok, file).toBe(false);
      const { name, dir } = parse(file);
      const problem = dir.startsWith("trailblaze/")
        ? { code: "MissingDefinitionFile", item: name }
        : { code: "HandlerNotFound", args: { reason: expect.stringContaining(`"${file}"`) } };
      expect(problems, file).toMatchObject([{ ...problem, line: expect.any(Number) }]);
    }
  },
);

test("the new packs can be packed, and their tools answer calls where they are installed", async () => {
  const folders = templateNames.map((template) => `./tb-${template}`);
  const packing = ["pack", "--json", "--ignore-scripts", "--pack-destination", tarballs];
  const packed = JSON.parse(await npm(folder.path, ...packing, ...folders));
  for (const { files } of packed) {
    const published: string[] = files.map(({ path }: { path: string }) => path);
    expect(published).toEqual(expect.arrayContaining(["package.json", "README.md"]));
    expect(published.filter((path) => /^(test|src)\/|^\./.test(path))).toEqual([]);
    expect(published.some((path) => path.startsWith("trailblaze/"))).toBe(true);
  }
  await npm(folder.path, "install", ...readdirSync(tarballs).map((file) => join(tarballs, file)));
  for (const template of templateNames) {
    const { args, message } = calls[template];
    const line = ["call", ...args, "--json"];
    // One of them is called by the command that is installed there.
    const run = template === "data" ? trailblaze : (cwd: string) => runMain(line, { cwd });
    const { stdout } = await run(folder.path, ...line);
    expect(JSON.parse(stdout)).toMatchObject({ variant: "Success", message });
  }
});
