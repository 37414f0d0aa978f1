import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { runUsersNpm } from "../support/package-managers.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { command, runCli } from "../support/run-cli.ts";
import { samplePack } from "../support/sample-packs.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";
import { waitUntil } from "../support/wait-until.ts";

async function validate(cwd: string, ...args: readonly string[]) {
  const folder = makeTemporaryFolder();
  onTestFinished(folder.remove);
  const env = {
    TMPDIR: folder.path,
    npm_config_registry: inject("registry"),
    npm_config_cache: join(makeTree({}), "cache"),
  };
  const result = await runCli(["validate", "--as-installed", "--json", ...args], { cwd, env });
  const left = readdirSync(folder.path).filter((name) => name.startsWith("trailblaze-installed"));
  expect(left).toEqual([]);
  return { ...result, document: JSON.parse(result.stdout) };
}

const makePack = (code: string, more: object = {}) =>
  makeTree({
    "package.json": packManifest("tb-desk", {
      type: "module",
      files: ["lib", "trailblaze"],
      trailblaze: { tools: ["greet"] },
      ...more,
    }),
    "trailblaze/tools/greet.json": {
      name: "greet",
      description: "Greet.",
      inputSchema: { type: "object" },
      handler: "./lib/greet.js#greet",
    },
    "lib/greet.js": code,
  });

test.each(["@acme/notes", "globex-calculator"])(
  "the sample pack %s works as installed",
  async (name) => {
    const { document, exitCode } = await validate(
      samplePack(name.replace("globex-", "@globex/")).folder,
      "--yes",
    );
    expect(document.problems).toEqual([]);
    expect(exitCode).toBe(0);
  },
  60_000,
);

test.each([
  ["throws", 'throw new Error("no table");\nexport const greet = () => 1;', "no table"],
  ["ends its process", "process.exit(3);\nexport const greet = () => 1;", "exit code 3"],
])(
  "a module that %s when it is imported fails",
  async (_, code, words) => {
    const { document, exitCode } = await validate(makePack(code), "--yes");
    expect(document).toMatchObject({ ok: false });
    expect(document.problems).toContainEqual(
      expect.objectContaining({
        code: "FailsAsInstalled",
        item: "greet",
        args: expect.objectContaining({ reason: expect.stringContaining(words) }),
      }),
    );
    expect(exitCode).toBe(1);
  },
  60_000,
);

test("a server that does not start fails with its last words", async () => {
  const cwd = makeTree({
    "package.json": packManifest("tb-desk", { type: "module", trailblaze: { servers: ["desk"] } }),
    "trailblaze/servers/desk.json": { script: "./desk.js", description: "Desk." },
    "desk.js": 'console.error("no license");\nprocess.exit(4);',
  });
  const { document } = await validate(cwd, "--yes");
  expect(document.problems).toContainEqual(
    expect.objectContaining({
      code: "FailsAsInstalled",
      item: "desk",
      args: expect.objectContaining({ reason: expect.stringContaining("no license") }),
    }),
  );
}, 60_000);

test("a dependency that no cache has fails the offline installation", async () => {
  const cwd = makePack("export const greet = () => 1;", { dependencies: { "@acme/jira": "^1.0.0" } });
  const { document, exitCode } = await validate(cwd, "--yes", "--offline");
  expect(document.error.code).toBe("InstallFailed");
  expect(exitCode).toBe(1);
}, 60_000);

test("a package that is not published is installed from its tarball", async () => {
  const tarballs = makeTree({ "tb-unpublished/package.json": packManifest("tb-unpublished") });
  await runUsersNpm(["pack", "--ignore-scripts", "./tb-unpublished"], tarballs);
  const dependencies = { "tb-unpublished": "^1.0.0" };
  const cwd = makePack("export const greet = () => 1;", { dependencies });
  expect((await validate(cwd, "--yes")).document.error.code).toBe("InstallFailed");
  const tarball = join(tarballs, readdirSync(tarballs).find((name) => name.endsWith(".tgz")) ?? "");
  const { document } = await validate(cwd, "--yes", "--with", tarball);
  expect(document.problems.filter(({ code }: { code: string }) => code === "FailsAsInstalled")).toEqual([]);
}, 60_000);

test.skipIf(process.platform === "win32")(
  "SIGINT ends the server and leaves nothing behind",
  async () => {
    const folder = makeTemporaryFolder();
    onTestFinished(folder.remove);
    const cwd = makeTree({
      "package.json": packManifest("tb-desk", { type: "module", trailblaze: { servers: ["desk"] } }),
      "trailblaze/servers/desk.json": { script: "./desk.js", args: [folder.path], description: "Desk." },
      "desk.js":
        'import { writeFileSync } from "node:fs";\nwriteFileSync(process.argv[2] + "/pid", String(process.pid));\nsetInterval(() => {}, 1000);',
    });
    const env = { ...process.env, TMPDIR: folder.path, npm_config_cache: join(makeTree({}), "cache") };
    const child = spawn(process.execPath, [command, "validate", "--as-installed", "--yes"], { cwd, env });
    child.stdout.resume();
    child.stderr.resume();
    const exited = once(child, "exit");
    await waitUntil(() => existsSync(join(folder.path, "pid")), 30_000);
    child.kill("SIGINT");
    expect((await exited)[0]).toBe(1);
    const pid = Number(readFileSync(join(folder.path, "pid"), "utf8"));
    expect(() => process.kill(pid, 0)).toThrow();
    expect(readdirSync(folder.path)).toEqual(["pid"]);
  },
  60_000,
);

test("without terminal and --yes is refused, as are its options without it", async () => {
  const cwd = makePack("export const greet = () => 1;");
  expect((await validate(cwd)).exitCode).toBe(2);
  expect((await runCli(["validate", "--offline"], { cwd })).exitCode).toBe(2);
}, 60_000);
