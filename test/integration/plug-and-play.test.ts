// Projects that Yarn 4 really installs with Plug'n'Play.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { discoverPacks } from "../../src/index.ts";
import { makeProject, useManagers, useYarn4 } from "../npm/changeable-project.ts";
import { runCli } from "../support/run-cli.ts";
import { runToSuccess } from "../support/run-process.ts";

const dependencies = { "@acme/jira": "^1.2.0", "@globex/release-desk": "^3.0.0", "@globex/text": "2.0.0" };

const listIn = async (cwd: string) => {
  const { packs, problems } = await discoverPacks({ cwd });
  expect(problems).toEqual([]);
  return packs.map(({ name, version, origin, shadowed }) => ({ name, version, origin, shadowed }));
};

test("with Yarn's Plug'n'Play, the same packs are listed as with npm, and run once they are unplugged", async () => {
  const registry = inject("registry");
  useManagers(registry);
  const cwd = await makeProject("npm", { registry, dependencies });
  const ofNpm = await listIn(cwd);
  expect(ofNpm).toHaveLength(5);
  await useYarn4(cwd, registry);
  const yarn = (...args: string[]) =>
    runToSuccess("yarn", args, { cwd, env: process.env, timeoutMs: 120_000 });
  const settings = join(cwd, ".yarnrc.yml");
  writeFileSync(settings, readFileSync(settings, "utf8").replace("node-modules", "pnp"));
  rmSync(join(cwd, "node_modules"), { recursive: true });
  await yarn("install", "--mode=skip-build");
  expect(existsSync(join(cwd, "node_modules"))).toBe(false);

  expect(await listIn(cwd)).toEqual(ofNpm);
  const call = ["call", "acme/jira/searchIssues", "--args", '{"text":"a"}', "--json"];
  const refused = await runCli(call, { cwd });
  expect(refused.exitCode).toBe(1);
  const { error } = JSON.parse(refused.stdout);
  expect(error).toMatchObject({ code: "UnsupportedLayout", hint: "Run `yarn unplug @acme/jira`." });

  await yarn(...error.hint.slice("Run `yarn ".length, -2).split(" "));
  expect(await listIn(cwd)).toEqual(ofNpm);
  const { exitCode, stdout } = await runCli(call, { cwd });
  expect(JSON.parse(stdout)).toMatchObject({ variant: "Success" });
  expect(exitCode).toBe(0);
});
