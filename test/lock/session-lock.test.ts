import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { lockFileOf } from "../../src/lock/lock-file.ts";
import { editJson, inPack, makeLocked, openLocked } from "./support/locked-project.ts";

const namesOf = (tools: readonly { name: string }[]) => tools.map(({ name }) => name);
type Values = Record<string, unknown>;

const lockedTools = ["status", "jira_createIssue", "jira_getIssue", "count", "query"];

describe("a session with a lock that approves everything", () => {
  test("a session with an equal lock has every tool and says nothing about the lock", async () => {
    const project = await makeLocked();
    const session = await openLocked(project);
    expect(session.problems).toEqual([]);
    expect(session.skipped).toEqual([]);
    expect(namesOf(session.tools)).toEqual(lockedTools);
  });

  test("without a lock, a session compares nothing", async () => {
    const project = await makeLocked();
    rmSync(lockFileOf(project));
    editJson(project, "trailblaze.config.json", (config: Values) => ({ ...config, lock: { frozen: false } }));
    const session = await openLocked(project);
    expect(session.problems).toEqual([]);
    expect(namesOf(session.tools).sort()).toEqual(lockedTools.toSorted());
    expect(namesOf(session.tools).slice(-2)).toEqual(["query", "count"]);
  });
});

const tool = inPack("trailblaze/tools/createIssue.json");
const server = inPack("trailblaze/servers/warehouse.json");
const setTool = (values: Values) => (project: string) =>
  editJson(project, tool, (old: Values) => ({ ...old, ...values }));
const setServer = (values: Values) => (project: string) =>
  editJson(project, server, (old: Values) => ({ ...old, ...values }));
const setOwn = (values: Values) => (project: string) =>
  editJson(project, "trailblaze.config.json", ({ mcpServers }: { mcpServers: { mine: Values } }) => ({
    mcpServers: { mine: { ...mcpServers.mine, ...values } },
  }));

describe("changes since the approval", () => {
  test.each([
    ["a pack", setServer({ args: ["--unsafe"] }), inPack("started.txt"), "mine/started.txt"],
    [
      "the config",
      setOwn({ args: ["./mine/server.mjs", "--all"] }),
      "mine/started.txt",
      inPack("started.txt"),
    ],
  ])("a server of %s whose launch has changed is not started", async (_of, mutate, canary, other) => {
    const project = await makeLocked();
    mutate(project);
    const session = await openLocked(project, { config: "trailblaze.config.json" }).catch(
      (error: unknown) => error,
    );
    expect(session).not.toBeInstanceOf(Error);
    expect(existsSync(join(project, canary))).toBe(false);
    expect(existsSync(join(project, other))).toBe(true);
  });

  test("a session calls approved tools after others have changed", async () => {
    const project = await makeLocked();
    setTool({ description: "Changed." })(project);
    const session = await openLocked(project);
    expect(await session.callTool("jira_getIssue")).toMatchObject({ variant: "Success" });
    expect(await session.callTool("mine/status")).toMatchObject({ variant: "Success" });
    await expect(session.callTool("jira_createIssue")).rejects.toMatchObject({ code: "NotApproved" });
  });
});
