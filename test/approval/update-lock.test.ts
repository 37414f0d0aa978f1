import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { previewAdditions, recordAdditions, recordRemovals } from "../../src/approval/update-lock.ts";
import { findPacks } from "../../src/discovery/find-packs.ts";
import type { FoundPack } from "../../src/discovery/types.ts";
import { inspectionPort as port } from "../../src/files/node-inspection-port.ts";
import { loadDefinitions } from "../../src/inspection/load-definitions.ts";
import { applyApproval, diffLock, planApproval } from "../../src/lock.ts";
import { type Tree, writeTree } from "../support/tree.ts";
import { configWith, jira, listed, lockOf, makeJiraProject, readLockText } from "./support/locked-project.ts";

const inspect = async (cwd: string, name: string) => {
  const { packs } = await findPacks(port, { cwd });
  const found = packs.find(({ pack }) => pack.name === name) as FoundPack;
  return loadDefinitions(port, found, { dataOnly: true });
};
const entryOf = (config: ReturnType<typeof configWith>) => ({
  label: "remote",
  entry: config.mcpServers.remote,
  version: null,
});

test("without a lock, an addition shows and records nothing", async () => {
  const cwd = makeJiraProject();
  const shown = await previewAdditions(cwd, { packs: [await inspect(cwd, "@acme/jira")], servers: [] });
  expect(shown).toBeUndefined();
  const options = { starts: false, shown, agree: () => true };
  expect(await recordAdditions(cwd, ["@acme/jira"], options)).toEqual([]);
  expect(existsSync(lockOf(cwd))).toBe(false);
});

test("with a lock, what was shown is recorded, what servers list after a second question, and removals are taken out", async () => {
  const cwd = makeJiraProject({ "@acme/jira": jira(), "@acme/more": jira() });
  await applyApproval(await planApproval(["@acme/jira"], { cwd }));
  const before = readLockText(cwd);
  const config = configWith([listed("search")]);
  const packs = [await inspect(cwd, "@acme/more")];
  const shown = await previewAdditions(cwd, { packs, servers: [entryOf(config)] });
  for (const text of ["+++ @acme/more tool createIssue", '"The tool createIssue."', "+++ server remote"])
    expect(shown?.text).toContain(text);
  expect(readLockText(cwd)).toBe(before);
  writeTree(cwd, { "trailblaze.config.json": config });
  const names = ["@acme/more", "remote"];
  const recorded = await recordAdditions(cwd, names, { starts: false, shown, agree: () => false });
  expect(recorded).toEqual([
    "Recorded in trailblaze.lock: acme/more/createIssue, acme/more/deleteIssue, acme/more/all, remote",
    "Run `trailblaze approve remote` to start it and approve its tools.",
  ]);
  expect(existsSync(join(cwd, "pids"))).toBe(false);
  expect(JSON.parse(readLockText(cwd)).servers.remote.lists).toBeNull();
  const plan = await planApproval(["remote"], { cwd });
  await applyApproval(plan);
  expect((await diffLock({ cwd })).inSync).toBe(true);
  rmSync(join(cwd, "node_modules/@acme/more"), { recursive: true });
  writeTree(cwd, { "trailblaze.config.json": {} });
  expect(await recordRemovals(cwd, { packs: ["@acme/more", "@acme/never"], servers: ["remote"] })).toEqual([
    "acme/more",
    "remote",
  ]);
  expect(readLockText(cwd)).toBe(before);
});

test.each([true, false])(
  "what servers list when they start is recorded only if that is agreed to: %s",
  async (isAgreed) => {
    const config = configWith([listed("search")]);
    const cwd = makeJiraProject({}, config);
    writeFileSync(lockOf(cwd), JSON.stringify({ lockfileVersion: 1, packs: {}, servers: {} }));
    const shown = await previewAdditions(cwd, { packs: [], servers: [entryOf(config)] });
    const texts: string[] = [];
    const agree = ({ text }: { text: string }) => texts.push(text) > 0 && isAgreed;
    const recorded = await recordAdditions(cwd, ["remote"], { starts: true, shown, agree });
    expect(texts).toEqual([expect.stringContaining('+    "search": {')]);
    expect(recorded).toEqual(
      isAgreed
        ? ["Recorded in trailblaze.lock: remote, remote/search"]
        : [
            "Recorded in trailblaze.lock: remote",
            "Run `trailblaze approve remote` to start it and approve its tools.",
          ],
    );
    expect(JSON.parse(readLockText(cwd)).servers.remote.lists).toEqual(
      isAgreed ? { search: expect.any(Object) } : null,
    );
  },
);

test("what was not shown, or is installed otherwise, waits for approval", async () => {
  const cwd = makeJiraProject();
  writeFileSync(lockOf(cwd), JSON.stringify({ lockfileVersion: 1, packs: {}, servers: {} }));
  const inspected = await inspect(cwd, "@acme/jira");
  const items = inspected.items.filter(({ declaration }) => declaration.name !== "all");
  const shown = await previewAdditions(cwd, { packs: [{ ...inspected, items }], servers: [] });
  const file = join(cwd, "node_modules/@acme/jira/trailblaze/tools/deleteIssue.json");
  writeFileSync(file, readFileSync(file, "utf8").replace("The tool", "INJECTED"));
  expect(await recordAdditions(cwd, ["@acme/jira"], { starts: false, shown, agree: () => true })).toEqual([
    "Recorded in trailblaze.lock: acme/jira/createIssue",
    "Run `trailblaze approve acme/jira/deleteIssue` to read and approve it.",
    "Run `trailblaze approve acme/jira/all` to read and approve it.",
  ]);
});

test("what an addition cannot know yet, and what is approved of it, is no removal", async () => {
  const server: Tree = { "package.json": { trailblaze: { tools: ["createIssue"], servers: ["warehouse"] } } };
  const code = "export default { command: 'node', args: ['server.mjs'] };\n";
  const cwd = makeJiraProject({
    "@acme/jira": jira({ createIssue: {} }, { ...server, "trailblaze/servers/warehouse.js": code }),
  });
  await applyApproval(await planApproval(["@acme/jira"], { cwd, static: true }));
  expect(readLockText(cwd)).toContain("server.mjs");
  const shown = await previewAdditions(cwd, { packs: [await inspect(cwd, "@acme/jira")], servers: [] });
  expect(shown?.text).toBe("");
});
