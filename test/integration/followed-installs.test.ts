// Sessions follow what npm and pnpm really do; Yarn 1 lays packages out as npm does. Everything that is started here ends with its test.
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { openSession } from "../../src/session.ts";
import { type PackageManager, runPackageManager, startPackageManager } from "../support/package-managers.ts";
import { makeTree } from "../support/packs.ts";
import { publish } from "../support/publish.ts";
import { waitUntil } from "../support/wait-until.ts";

beforeAll(async () => {
  await publish(inject("registry"), {
    "package.json": { name: "@acme/stuck", version: "1.0.0", scripts: { install: "node stuck.js" } },
    "stuck.js": `
      require("node:fs").writeFileSync(require("node:path").join(process.env.INIT_CWD, "stuck"), "");
      setInterval(() => {}, 1000);
    `,
  });
});

async function follow(manager: PackageManager) {
  const cwd = makeTree({ "package.json": { name: "app", version: "1.0.0", private: true } });
  const isolated = { cwd, registry: inject("registry"), home: makeTree({}) };
  const run = (...args: readonly string[]) => runPackageManager(manager, args, isolated);
  const session = await openSession({ cwd, config: { logDir: makeTree({}) }, watch: true });
  onTestFinished(() => session.close());
  return { cwd, session, run, isolated, names: () => session.tools.map(({ name }) => name) };
}

test("an open session has a pack's tools after pnpm has installed and updated it", async () => {
  const { session, names, run } = await follow("pnpm");
  await run("add", "@acme/live@1.0.0");
  await waitUntil(() => names().join() === "live_ask");
  expect(await session.callTool("live_ask")).toMatchObject({ message: "version 1.0.0" });
  await run("add", "@acme/live@2.0.0");
  await waitUntil(() => names().join() === "live_ask,live_more");
  expect(await session.callTool("live_ask")).toMatchObject({ message: "version 2.0.0" });
});

test("an open session survives an installation that is killed half-way, and `npm ci`, which deletes every package", async () => {
  const { cwd, session, names, run, isolated } = await follow("npm");
  await run("install", "@acme/live@1.0.0");
  await waitUntil(() => names().length === 1);
  const npm = startPackageManager("npm", ["install", "@acme/live@2.0.0", "@acme/stuck"], isolated);
  const { pid } = npm;
  if (pid === undefined) throw new Error("npm did not start");
  const exited = once(npm, "exit");
  try {
    await waitUntil(() => existsSync(join(cwd, "stuck")), 60_000);
  } finally {
    // The group that it leads.
    process.kill(-pid, "SIGKILL");
  }
  await exited;
  expect(names()).toContain("live_ask");
  expect(await session.callTool("live_ask")).toMatchObject({ variant: "Success" });
  await run("ci");
  expect(await session.callTool("live_ask")).toMatchObject({ variant: "Success" });
  // A later change shows that the one of `npm ci` was handled.
  await run("install", "@acme/live@2.0.0");
  await waitUntil(() => names().join() === "live_ask,live_more");
  expect(await session.callTool("live_ask")).toMatchObject({ message: "version 2.0.0" });
});
