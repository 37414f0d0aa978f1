import { symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { probe } from "../session/support/session.ts";
import { runMain } from "../support/main.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { inRepository } from "../support/repository.ts";
import type { Tree } from "../support/tree.ts";

const makeProject = (files: Tree = {}) =>
  makeTree({
    "package.json": { name: "app", dependencies: { "@acme/jira": "*", "@acme/absent": "*" } },
    "trailblaze.config.json": {
      trailblazeSubprocessToolsets: [probe("everything", { PROBE_PREFIX: "probe" })],
      servers: { mixed: { tools: ["everything/probe_params"] } },
    },
    "node_modules/@acme/jira/package.json": packManifest("@acme/jira", {
      trailblaze: { tools: ["getIssue"] },
    }),
    ...files,
  });

/** What a command says that ends without an answer. */
async function fail(args: readonly string[], cwd = makeProject()) {
  // pnpm and Yarn are among the repository's own packages.
  const bin = makeTree({});
  symlinkSync(inRepository("node_modules/pnpm/bin/pnpm.cjs"), join(bin, "pnpm"));
  const PATH = [bin, process.env.PATH].join(delimiter);
  const { stdout } = await runMain([...args, "--json"], { cwd, env: { PATH } });
  return JSON.parse(stdout).error as { code: string; args: object; hint: string };
}

test.each([
  [
    ["call", "everything/probe_parms"],
    "ToolNotFound",
    { name: "everything/probe_parms", server: "everything" },
  ],
  [["inspect", "everything/echo"], "InvalidArguments", { hint: expect.stringContaining("--start") }],
  [["inspect", "everything/echo", "--kind", "prompt"], "PackNotInstalled", { inConfig: "server" }],
  [["inspect", "everythin/echo"], "ServerNotFound", { name: "everythin", nearest: ["everything"] }],
  [["inspect", "everythin/echo", "--start"], "ServerNotFound", { name: "everythin", isLabel: true }],
  [["inspect", "getIssue", "--start"], "InvalidArguments", { hint: expect.stringContaining("LABEL/TOOL") }],
  [["call", "everythin/echo"], "ServerNotFound", { name: "everythin", nearest: ["everything"] }],
  [["inspect", "everything"], "PackNotInstalled", { name: "everything", inConfig: "server" }],
  [["start", "everything/echo"], "PackNotInstalled", { name: "everything", inConfig: "server" }],
  [["start", "mixed", "--install"], "PackNotInstalled", { name: "everything", inConfig: "server" }],
  [["remove", "everything"], "PackNotInstalled", { inConfig: "server", isRemoval: true }],
  [["remove", "@acme/jria"], "PackNotInstalled", { nearest: ["@acme/jira"], isRemoval: true }],
  [["inspect", "getIssue"], "PackNotInstalled", { nearest: ["acme/jira/getIssue"], isWord: true }],
])("the hint of `trailblaze` with %j suggests no package", async (given, code, args) => {
  const error = await fail(given);
  expect(error).toMatchObject({ code, args });
  expect(error.hint).not.toMatch(/install |\badd\b/);
});

test("hints name the project's package manager and the requested range, and run nothing", async () => {
  const cwd = makeProject({ "pnpm-lock.yaml": "lockfileVersion: '9.0'\n", "trailblaze.config.json": {} });
  const missing = { code: "PackNotInstalled", args: { name: "@acme/confluence", manager: "pnpm" } };
  expect(await fail(["inspect", "@acme/confluence"], cwd)).toMatchObject(missing);
  expect(await fail(["call", "acme/confluence@^2/page"], cwd)).toMatchObject({
    ...missing,
    args: { ...missing.args, range: "^2" },
  });
  expect(await fail(["call", "acme/jira@^2/getIssue"], cwd)).toMatchObject({
    code: "PackVersionMismatch",
    args: { name: "@acme/jira", range: "^2", manager: "pnpm" },
  });
  const hostile = makeProject({ "package.json": { name: "app", packageManager: "$(touch x);#@1" } });
  expect(await fail(["call", "acme/confluence/page"], hostile)).toMatchObject({ args: { manager: "npm" } });
});
