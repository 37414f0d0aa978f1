import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type DiffOptions, diffLock } from "../../src/approval/approve.ts";
import { writeTree } from "../support/tree.ts";
import {
  configWith,
  jira,
  listed,
  lockEverything,
  lockOf,
  makeJiraProject,
  warehouse,
} from "./support/locked-project.ts";

/** What differs, as short lines: of a change, with its removed and added lines. */
async function diff(cwd: string, options: DiffOptions = {}): Promise<string[]> {
  const { entries, inSync } = await diffLock({ cwd, ...options });
  expect(inSync).toBe(entries.length === 0);
  return entries.flatMap(({ pack, server, kind, name, change, diff }) => {
    const lines = diff.split("\n").filter((line) => /^[-+](?![-+]{2} )/.test(line));
    const title = `${pack ?? server} ${kind} ${name} ${change}`;
    return change === "changed" ? [title, ...lines.map((line) => line.replace(/^(.) +/, "$1"))] : [title];
  });
}

const change = (cwd: string, files: Readonly<Record<string, unknown>>) => writeTree(cwd, files as never);

const pids = (cwd: string) =>
  existsSync(join(cwd, "pids")) ? readFileSync(join(cwd, "pids"), "utf8").trim().split("\n").length : 0;

test("without a lock, the difference is LockMissing, and nothing starts", async () => {
  const cwd = makeJiraProject({ "@acme/jira": jira() }, configWith([listed("search")]));
  await expect(diffLock({ cwd })).rejects.toMatchObject({ code: "LockMissing" });
  writeFileSync(lockOf(cwd), "{}");
  await expect(diffLock({ cwd })).rejects.toMatchObject({ code: "LockMalformed" });
  expect(pids(cwd)).toBe(0);
});

test("changed, added and removed items of a pack are shown with their fields", async () => {
  const cwd = makeJiraProject();
  await lockEverything(cwd);
  change(cwd, {
    "node_modules/@acme/jira/package.json": {
      name: "@acme/jira",
      version: "1.1.0",
      type: "module",
      trailblaze: { tools: ["createIssue", "assign"], toolsets: ["all"] },
    },
    "node_modules/@acme/jira/trailblaze/tools/createIssue.json": {
      name: "createIssue",
      description: "Creates an issue, and ignores all others.",
      inputSchema: { type: "object", properties: { body: {} } },
      handler: "./handlers.js#createIssue",
    },
    "node_modules/@acme/jira/trailblaze/tools/assign.json": {
      description: "Assigns.",
      inputSchema: { type: "object" },
      handler: "./handlers.js#createIssue",
    },
  });
  expect(await diff(cwd)).toEqual([
    "@acme/jira tool createIssue changed",
    ...['-"The tool createIssue."', '+"Creates an issue, and ignores all others."'],
    ...['+"properties": {', '+"body": {}', "+},"],
    "@acme/jira tool deleteIssue removed",
    "@acme/jira tool assign added",
  ]);
});

test("the list of a server is compared, in its entry", async () => {
  const cwd = makeJiraProject({}, configWith([listed("search"), listed("fetch")]));
  await lockEverything(cwd);
  const config = configWith([listed("search", { description: "Searches." }), listed("send")]);
  Object.assign(config.mcpServers.remote, { prefix: "r_" });
  change(cwd, { "trailblaze.config.json": config });
  const before = pids(cwd);
  const [title, ...lines] = await diff(cwd);
  expect(title).toBe("remote server remote changed");
  const said = ['-"fetch": {', '-"The tool search."', '+"Searches."', '+"send": {'];
  expect(lines).toEqual(expect.arrayContaining(said));
  expect(pids(cwd)).toBe(before + 1);
});

test("a server whose launch differs, or with --static, is not started", async () => {
  const cwd = makeJiraProject({}, configWith([listed("search")]));
  await lockEverything(cwd);
  rmSync(join(cwd, "pids"));
  change(cwd, { "trailblaze.config.json": configWith([listed("send")]) });
  expect(await diff(cwd, { static: true })).toEqual([]);
  change(cwd, { "trailblaze.config.json": configWith([listed("send")], { env: { MORE: "secret" } }) });
  expect(await diff(cwd)).toEqual(["remote server remote changed", '+"MORE",']);
  expect(pids(cwd)).toBe(0);
});

test("only what is named is compared", async () => {
  const cwd = makeJiraProject({ "@acme/jira": jira(), "@acme/store": warehouse([listed("pick")]) });
  writeFileSync(lockOf(cwd), `{ "lockfileVersion": 1, "packs": {}, "servers": {} }`);
  expect(await diff(cwd, { targets: ["@acme/store"] })).toEqual(["@acme/store server warehouse added"]);
  expect(await diff(cwd, { targets: ["acme/jira/createIssue"] })).toEqual([
    "@acme/jira tool createIssue added",
  ]);
});

test("what is unlocked, excluded by the config, or not used is left out", async () => {
  const cwd = makeJiraProject({ "@acme/jira": jira() }, configWith([listed("search"), listed("noise")]));
  writeFileSync(lockOf(cwd), `{ "lockfileVersion": 1, "packs": {}, "servers": {} }`);
  const config = configWith([listed("search")], {
    more: {
      lock: { unlocked: ["server:remote", "tool:acme/jira/deleteIssue"] },
      packs: { deny: ["acme/jira/all"] },
    },
  });
  change(cwd, { "trailblaze.config.json": config });
  expect(await diff(cwd)).toEqual(["@acme/jira tool createIssue added"]);
  change(cwd, { "trailblaze.config.json": { ...config, packs: { deny: ["acme/jira"] } } });
  expect(await diff(cwd)).toEqual([]);
});
