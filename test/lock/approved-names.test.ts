import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { applyApproval, planApproval } from "../../src/lock.ts";
import { lockEverything } from "../approval/support/locked-project.ts";
import { makeProject as makeTree } from "../session/support/session.ts";
import { editJson, makeRemote, mergeJson, openLocked } from "./support/locked-project.ts";

type Config = { mcpServers: { mine: object } };

const makeProject = () => makeRemote(makeTree({}, { "mine/list.json": {} }));

/** Sets what the config's server lists: tools and prompts with these names. */
function list(project: string, names: readonly string[]) {
  const tools = names.map((name) => ({ name, inputSchema: { type: "object" } }));
  const prompts = names.map((name) => ({ name }));
  writeFileSync(join(project, "mine/list.json"), JSON.stringify({ tools, prompts }));
}

/** The server's own names by the advertised ones. */
async function namesIn(project: string, start: "eager" | "lazy") {
  const session = await openLocked(project, { start });
  const own = async (name: string) => (await session.callTool(name)).message;
  const ofMine = session.tools.filter(({ source }) => source.server === "mine");
  const tools = await Promise.all(ofMine.map(async ({ name }) => [name, await own(name)]));
  const prompts = session.prompts.filter(({ source }) => source.server === "mine");
  const got = prompts.map(async ({ name }) => [name, (await session.getPrompt(name)).messages[0]?.content]);
  const gotten = await Promise.all(got);
  await session.close();
  return { tools: tools.sort(), prompts: gotten.sort() };
}

const hashed = expect.stringMatching(/^a_b_[0-9a-f]{8}$/);
const text = (name: string) => ({ type: "text", text: `got ${name}` });

test.each(["eager", "lazy"] as const)("with start: %s, approved items keep their names", async (start) => {
  const project = await makeProject();
  list(project, ["a.b"]);
  await lockEverything(project);
  const approved = { tools: [["a_b", "called a.b"]], prompts: [["a_b", text("a.b")]] };
  expect(await namesIn(project, start)).toEqual(approved);
  list(project, ["a_b", "a.b", "a b"]);
  expect(await namesIn(project, start)).toEqual(approved);
  await lockEverything(project);
  const { tools, prompts } = await namesIn(project, start);
  expect(tools).toEqual([["a_b", "called a_b"], ...[0, 1].map(() => [hashed, expect.any(String)])]);
  expect(prompts.map(([name]) => name)).toEqual(["a_b", hashed, hashed]);
});

test("what a server no longer lists keeps its name from others", async () => {
  const project = await makeProject();
  list(project, ["a_b", "a.b"]);
  await lockEverything(project);
  list(project, ["a.b"]);
  expect(await namesIn(project, "eager")).toEqual({
    tools: [[hashed, "called a.b"]],
    prompts: [[hashed, text("a.b")]],
  });
});

test.each(["the lock", "the config"])("what %s denies keeps its name from others", async (place) => {
  const project = await makeProject();
  list(project, ["a_b", "a.b"]);
  if (place === "the lock") {
    await lockEverything(project);
    await applyApproval(await planApproval(["mine/a_b"], { cwd: project, deny: true }));
  } else {
    editJson(project, "trailblaze.config.json", ({ mcpServers: { mine } }: Config) => ({
      mcpServers: { mine: { ...mine, tools: { deny: ["a_b"] } } },
    }));
  }
  expect((await namesIn(project, "eager")).tools).toEqual([[hashed, "called a.b"]]);
});

test("a tool that needs no approval gets no name of an approved one", async () => {
  const project = await makeProject();
  list(project, ["a.b"]);
  await lockEverything(project);
  list(project, ["a_b", "a.b"]);
  mergeJson(project, "trailblaze.config.json", { lock: { unlocked: ["tool:mine/a_b"] } });
  const session = await openLocked(project);
  const names = session.tools.filter(({ source }) => source.server === "mine").map(({ name }) => name);
  expect(names.sort()).toEqual(["a_b", hashed]);
  expect(await session.callTool("a_b")).toMatchObject({ message: "called a.b" });
});
