import { spawn } from "node:child_process";
import { once } from "node:events";
import { join, win32 } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { writePaths } from "../../src/cli/output.ts";
import { makeProject, probe } from "../session/support/session.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { collect } from "../support/processes.ts";
import { command } from "../support/run-cli.ts";

/** A project whose tools take more than a megabyte to list. `more`: further declarations. */
function makeLargeProject(more: readonly string[] = []): string {
  const tools = Array.from({ length: 300 }, (_, index) => [`tool${index}`, "x".repeat(2000)]);
  const dependencies = { one: "*", two: "*", three: "*" };
  return makeTree({
    "package.json": { name: "app", dependencies },
    ...Object.fromEntries(
      Object.keys(dependencies).map((name) => [
        `node_modules/${name}/package.json`,
        packManifest(name, { trailblaze: { tools: [...tools, ...more] } }),
      ]),
    ),
  });
}

test.concurrent.each([
  { args: ["list", "tools"], more: [], expected: 0 },
  { args: ["list", "tools", "--json"], more: ["tool0"], expected: 1 },
])("a slow reader gets every byte of $args, with exit code $expected", async ({ args, more, expected }) => {
  // A pipe that does not block, as one is that another program has changed: creating the stream changes it here.
  const hook = makeTree({ "hook.cjs": "process.stdout;" });
  const line = ["--require", join(hook, "hook.cjs"), command, ...args];
  const child = spawn(process.execPath, line, { cwd: makeLargeProject(more) });
  child.stderr.resume();
  const exit = once(child, "exit");
  await sleep(1000);
  expect(child.exitCode).toBe(null);
  const chunks: Buffer[] = [];
  for await (const chunk of child.stdout) {
    chunks.push(chunk);
    if (chunks.length < 10) await sleep(20);
  }
  const text = Buffer.concat(chunks).toString();
  if (args.includes("--json")) expect(JSON.parse(text).items).toHaveLength(900);
  else expect(text.match(/^\w+\/tool/gm)).toHaveLength(900);
  expect(text.length).toBeGreaterThan(1_000_000);
  expect(await exit).toEqual([expected, null]);
});

test.each([[[]], [["--json"]]])(
  "a reader that closes the pipe early ends `list` with %j without an error",
  async (flags) => {
    const child = spawn(process.execPath, [command, "list", "tools", ...flags], { cwd: makeLargeProject() });
    const stderr = collect(child.stderr);
    child.stdout.once("data", () => child.stdout.destroy());
    expect(await once(child, "close")).toEqual([0, null]);
    expect(stderr()).toBe("");
  },
);

test("a reader that closes the pipe of messages early ends a command that catches signals without an error", async () => {
  const child = spawn(process.execPath, [command, "doctor", "--json"], {
    cwd: makeProject(
      {},
      { "trailblaze.config.json": { logDir: "logs", trailblazeSubprocessToolsets: [probe()] } },
    ),
  });
  child.stderr.destroy();
  const stdout = await child.stdout.setEncoding("utf8").toArray();
  expect({ stdout, exitCode: child.exitCode ?? (await once(child, "close"))[0] }).toEqual({
    stdout: [],
    exitCode: 0,
  });
});

test("paths of Windows have slashes in documents, and what packs say stays", () => {
  const location = win32.join("C:\\app", "node_modules", "desk");
  const definition = { file: location };
  const document = {
    project: "C:\\app",
    packs: [{ location, description: location }],
    files: [{ file: location }, "lib/a.js"],
    definition,
  };
  expect(writePaths(document)).toEqual({
    project: "C:/app",
    packs: [{ location: "C:/app/node_modules/desk", description: location }],
    files: [{ file: "C:/app/node_modules/desk" }, "lib/a.js"],
    definition,
  });
  expect(writePaths({ folder: "/app\\one" })).toEqual({ folder: "/app\\one" });
});
