import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, inject, test } from "vitest";
import { startServer } from "../../src/serve.ts";
import { makeQuickProject, readState } from "../npm/changeable-project.ts";
import { runMain } from "../support/main.ts";
import { packManifest } from "../support/packs.ts";
import { publish } from "../support/publish.ts";
import { writeTree } from "../support/tree.ts";

// 2.0.0 is the newest version of this pack; each of its tools tells its version.
const name = "tb-versions";

beforeAll(async () => {
  const tool = { description: "Tells its version.", inputSchema: { type: "object" }, handler: "./tell.js" };
  const trailblaze = { tools: ["tell", "say"], servers: ["both"] };
  for (const version of ["1.0.0", "1.1.0", "1.2.0", "2.0.0"]) {
    await publish(inject("registry"), {
      "package.json": packManifest(name, { version, trailblaze }),
      "trailblaze/tools.json": {
        tell: { name: "versions_tell", ...tool },
        say: { name: "versions_say", ...tool },
      },
      "trailblaze/servers/both.json": { tools: ["tell", "say"] },
      "tell.js": `export default () => "${version}";\n`,
    });
  }
});

interface Setting {
  config?: Record<string, unknown>;
  files?: Record<string, string>;
  dependencies?: Record<string, string>;
}

async function setUp({ config, files = {}, dependencies = {} }: Setting = {}) {
  const { directory: cwd } = await makeQuickProject({ dependencies });
  writeTree(cwd, { ...files, "trailblaze.config.json": config });
  return cwd;
}

const readJson = (...path: string[]) => JSON.parse(readFileSync(join(...path), "utf8"));
const installedIn = (cwd: string): string => readJson(cwd, "node_modules", name, "package.json").version;
const declaredIn = (cwd: string): string | undefined => readJson(cwd, "package.json").dependencies?.[name];

async function run(cwd: string, ...args: string[]) {
  const { stdout, exitCode } = await runMain([...args, "--json"], { cwd });
  return { answer: JSON.parse(stdout), exitCode };
}

test("call installs a missing pack in the version that its reference requires, whatever the config says", async () => {
  const config = { toolsets: { open: [`${name}/say`], mine: [`${name}@^1/tell`] } };
  const cwd = await setUp({ config });
  const { answer } = await run(cwd, "call", `${name}@~1.1/tell`, "--install");
  expect(answer).toMatchObject({ variant: "Success", message: "1.1.0" });
  expect([installedIn(cwd), declaredIn(cwd)]).toEqual(["1.1.0", "~1.1"]);
});

test("run installs a missing pack in the version that a trail requires", async () => {
  const cwd = await setUp({ files: { "trail.yaml": `- ${name}@1.0.0/tell: {}\n` } });
  const { answer } = await run(cwd, "run", "trail.yaml", "--install");
  expect(answer).toMatchObject({ steps: [{ variant: "Success", message: "1.0.0" }] });
});

test("start installs a missing pack in the version that the server's name requires", async () => {
  const cwd = await setUp();
  const running = await startServer(`${name}@^1.0/both`, { cwd, install: true, transport: { port: 0 } });
  await running.close();
  expect(installedIn(cwd)).toBe("1.2.0");
});

test("a declared range is kept and installed if a reference excludes it, which is reported", async () => {
  const cwd = await setUp({ dependencies: { [name]: "^2.0.0" } });
  const before = readState(cwd);
  const mismatch = { code: "PackVersionMismatch", args: { name, version: "2.0.0", range: "~1.1" } };
  const call = () => run(cwd, "call", `${name}@~1.1/tell`, "--install");
  expect(await call()).toMatchObject({ exitCode: 1, answer: { error: mismatch } });
  expect(readState(cwd)).toEqual(before);
  rmSync(join(cwd, "node_modules"), { recursive: true });
  expect(await call()).toMatchObject({ answer: { error: mismatch } });
  expect([installedIn(cwd), declaredIn(cwd)]).toEqual(["2.0.0", "^2.0.0"]);
});
