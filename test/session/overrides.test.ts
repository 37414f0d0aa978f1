import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { configOf, makeLocked, namesOf, open, tools, write } from "./support/lazy.ts";
import { makeProject, openForTest, server, withServers } from "./support/session.ts";

const search = {
  name: "probe_params",
  title: "Theirs",
  description: "Their words.",
  annotations: { readOnlyHint: false, openWorldHint: true },
  inputSchema: {
    type: "object",
    properties: { query: { type: "string" }, depth: { type: "integer" } },
    required: ["query", "depth"],
  },
};
const override = {
  probe_params: {
    name: "find",
    title: "Ours",
    description: "Our words.",
    annotations: { readOnlyHint: true },
    arguments: { depth: 3, "${HOME}": ["${HOME}"] },
  },
};
const config = (changes: object = {}, list: object = search) =>
  configOf(tools(list, { name: "other", inputSchema: { type: "object" } }), {
    tools: { override: { ...override, ...changes }, deny: ["find"] },
    prefix: "p",
  });

test("what an override says is what models, hosts and the lock get, and its arguments go with each call", async () => {
  const cwd = await makeLocked(config());
  const locked = JSON.parse(readFileSync(join(cwd, "trailblaze.lock"), "utf8")).servers.a.lists.probe_params;
  const schema = { type: "object", properties: { query: { type: "string" } }, required: ["query"] };
  const annotations = { readOnlyHint: true, openWorldHint: true };
  const shown = { title: "Ours", annotations, inputSchema: schema };
  expect(locked).toEqual({ ...shown, name: "find", description: ["Our words."] });
  const session = await open(cwd);
  const found = session.tools.find(({ name }) => name === "p_find");
  expect(found).toMatchObject({ ...shown, description: "Our words." });
  for (const name of ["p_find", "a/probe_params"]) {
    const { message } = await session.callTool(name, { query: "x" });
    expect(JSON.parse(message).arguments).toEqual({ query: "x", depth: 3, "${HOME}": ["${HOME}"] });
  }
  const given = await session.callTool("p_find", { query: "x", depth: 4 });
  expect(given).toMatchObject({ variant: "ExceptionThrown", message: expect.stringContaining('"depth"') });
  // After its start, the server's own list is compared.
  expect(namesOf(session.tools).sort()).toEqual(["p_find", "p_other"]);
  await session.close();

  // What an override hides may change, what it says may not.
  write(cwd, config({}, { ...search, title: "New", description: "New." }));
  expect(namesOf((await open(cwd, { start: "eager" })).tools).sort()).toEqual(["p_find", "p_other"]);
  write(cwd, config({ probe_params: { ...override.probe_params, description: "Not approved." } }));
  const changed = await open(cwd, { start: "eager" });
  expect(namesOf(changed.tools)).toEqual(["p_other"]);
  const told = changed.problems.map(({ code, path }) => [code, path?.at(-1)]);
  expect(told.map(([code]) => code)).toContain("NotApproved");
  // Patterns are about the server's own names.
  expect(told.filter(([code]) => code === "UnmatchedPattern")).toEqual([
    ["UnmatchedPattern", 0],
    ["UnmatchedPattern", "${HOME}"],
  ]);
});

test("a tool or an argument that a server lacks is told, and two tools of one name collide", async () => {
  const entry = (all: object) => withServers(server("a", ["one", "two"], { tools: { override: all } }));
  const cwd = makeProject({});
  const session = await openForTest(cwd, {
    config: entry({ gone: { title: "x" }, one: { arguments: { none: 1 } } }),
  });
  const unmatched = session.problems.map(({ code, path }) => [code, path?.slice(2).join(".")]);
  expect(unmatched).toEqual([
    ["UnmatchedPattern", "tools.override.gone"],
    ["UnmatchedPattern", "tools.override.one.arguments.none"],
  ]);
  const same = entry({ one: { name: "two" } });
  await expect(openForTest(cwd, { config: same })).rejects.toMatchObject({ code: "NameCollision" });
  const prefixed = await openForTest(cwd, { config: { ...same, nameCollisions: "prefix" } });
  expect(new Set(namesOf(prefixed.tools)).size).toBe(2);
});

test("what a server lists without approval does not change the name that an override gives", async () => {
  const configWith = (...names: string[]) =>
    configOf(tools(...names.map((name) => ({ name, inputSchema: { type: "object" } }))), {
      tools: { override: { one: { name: "find!" } } },
    });
  const cwd = await makeLocked(configWith("one"));
  write(cwd, configWith("one", "find?"));
  expect(namesOf((await open(cwd, { start: "eager" })).tools)).toEqual(["find_"]);
});
