// What the guides promise authors: a pack of each template works for strangers, without an edit in between.
import { mkdirSync, readdirSync, renameSync } from "node:fs";
import { join, parse } from "node:path";
import fastGlob from "fast-glob";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type TemplateName, templateNames } from "../../src/author/init-pack.ts";
import { validateExtension } from "../../src/index.ts";
import { type InstalledProject, installWith } from "../support/install.ts";
import { runMain } from "../support/main.ts";
import { isolatedEnvironment, runPackageManager } from "../support/package-managers.ts";
import { runProcess } from "../support/run-process.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

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
mkdirSync(tarballs);
afterAll(folder.remove);

/** Runs the command that is installed in a project. */
const trailblaze = (cwd: string, ...args: readonly string[]) =>
  runProcess(process.execPath, [join(cwd, "node_modules/trailblaze/dist/cli/cli.cjs"), ...args], {
    cwd,
    env: isolatedEnvironment({ cwd, registry, home }),
    timeoutMs: 100_000,
  });

describe("new packs", () => {
  test.each(templateNames)(
    "a pack from the template %s passes its tests and both validations, and can be packed",
    async (template) => {
      const name = `tb-${template}`;
      const init = await runMain(["init", name, "--template", template], { cwd: folder.path });
      expect(init).toMatchObject({ exitCode: 0 });
      const cwd = join(folder.path, name);
      const npm = (...args: readonly string[]) => runPackageManager("npm", args, { cwd, registry, home });
      await npm("install");
      await npm("test");
      const passes = [
        ["validate", "--strict"],
        ["docs", "--check", "--write", "README.md"],
      ];
      if (["server", "composed", "bundle"].includes(template))
        passes.push(["export", "bin"], ["export", "bin", "--check"]);
      // How packs work as installed is shown below.
      for (const args of passes) {
        const { exitCode, stdout, stderr } = await trailblaze(cwd, ...args);
        expect(exitCode, `${args}: ${stdout}${stderr}`).toBe(0);
      }
      const [packed] = JSON.parse(
        await npm("pack", "--json", "--ignore-scripts", "--pack-destination", tarballs),
      );
      expect(readdirSync(tarballs)).toContain(`${name}-0.1.0.tgz`);
      const published: string[] = packed.files.map(({ path }: { path: string }) => path);
      expect(published).toEqual(expect.arrayContaining(["package.json", "README.md"]));
      expect(published.filter((path) => /^(test|src)\/|^\./.test(path))).toEqual([]);
      expect(published.some((path) => path.startsWith("trailblaze/"))).toBe(true);
    },
  );

  test.each(templateNames)(
    "a pack from the template %s is invalid without any one of its files",
    async (template) => {
      const cwd = join(folder.path, `tb-${template}`);
      const removed = join(folder.path, "removed");
      for (const file of listFiles(cwd)) {
        renameSync(join(cwd, file), removed);
        const { ok, problems } = await validateExtension(cwd);
        renameSync(removed, join(cwd, file));
        expect(ok, file).toBe(false);
        const { name, dir } = parse(file);
        const isDefinition = dir.startsWith("trailblaze/");
        expect(problems, file).toMatchObject([
          isDefinition
            ? { code: "MissingDefinitionFile", item: name, line: expect.any(Number) }
            : {
                code: "HandlerNotFound",
                file: expect.stringMatching(/^trailblaze\//),
                line: expect.any(Number),
                args: { reason: expect.stringContaining(`"${file}"`) },
              },
        ]);
      }
    },
  );

  describe("new packs installed elsewhere", () => {
    let project: InstalledProject | undefined;
    beforeAll(async () => {
      const packs = templateNames.map((template) => [
        `tb-${template}`,
        `file:${tarballs}/tb-${template}-0.1.0.tgz`,
      ]);
      const dependencies = { trailblaze: "^1.0.0", ...Object.fromEntries(packs) };
      project = await installWith("npm", { registry, dependencies });
    });
    afterAll(() => project?.remove());

    test.each(templateNames)("the tool of the template %s answers a call", async (template) => {
      const { args, message } = calls[template];
      const cwd = project?.directory ?? "";
      const line = ["call", ...args, "--json"];
      // One of them is called by the command that is installed there.
      const { stdout } = await (template === "data" ? trailblaze(cwd, ...line) : runMain(line, { cwd }));
      expect(JSON.parse(stdout)).toMatchObject({ variant: "Success", message });
    });
  });
});
