import { describe, expect, test } from "vitest";
import { failureOf } from "../support/failure-of.ts";
import {
  faultsIn,
  faultsOfJson,
  faultsOfObject,
  faultsOfYaml,
  makeProject,
  readFrom,
  readObject,
} from "./configs.ts";
import { type WrongValue, wrongByMeaning, wrongByShape } from "./wrong-values.ts";

const wrong: readonly WrongValue[] = [...wrongByShape, ...wrongByMeaning];
/** Enough to see that places are found at each depth. */
const located = wrong.filter((_, index) => index % 6 === 0);

describe("each wrong value of a config is one problem at its place", () => {
  test.each(wrong)("in an object, %j is one problem at %j", async (config, path, words) => {
    const problems = await faultsOfObject(config);
    expect(problems).toEqual([expect.objectContaining({ code: "InvalidConfig", severity: "error", path })]);
    expect(problems[0]?.args).toMatchObject({ reason: expect.stringMatching(words) });
    expect(problems[0]?.message.length).toBeLessThan(300);
    expect(problems[0]).not.toHaveProperty("file");
  });

  test.each(located)("in JSON, %j is one problem at %j", async (config, path) => {
    const [problem, ...others] = await faultsOfJson(config);
    expect(others).toEqual([]);
    expect(problem).toMatchObject({ file: "trailblaze.config.json", path, line: expect.any(Number) });
    // The deeper the key, the further to the right `JSON.stringify` puts it.
    expect(problem?.column).toBe(2 * path.length + 1);
  });
});

describe("hints of config problems", () => {
  test.each([
    [{ memmory: {} }, '"memory"'],
    [{ lock: { unlocked: ["acme/jira"] } }, "tool:"],
    [{ memory: { userId: 42 } }, "quotes"],
    [{ mcpServers: { a: { url: "https://x.test", type: "sse" } } }, "streamable HTTP"],
    [
      { mcpServers: { a: { package: "x" } }, trailblazeSubprocessToolsets: [{ name: "a", package: "x" }] },
      "Rename",
    ],
  ])("the hint for %j says what to do: %s", async (config, named) => {
    expect((await faultsOfObject(config))[0]?.args).toEqual({
      reason: expect.any(String),
      hint: named && expect.stringContaining(named),
    });
  });
});

test("a value that may be a secret never appears in a message", async () => {
  const text =
    "memory: { pin: 918273 }\nsensitiveMemory: [pin]\ntrailblazeSubprocessToolsets:\n  - { name: a, command: b, env: { PIN: 918273 }, args: [918273] }\nmcpServers: { b: { url: 'https://me:918273@example.com' } }\n";
  const problems = await faultsOfYaml(text);
  expect(problems).toHaveLength(4);
  expect(JSON.stringify(problems)).not.toContain("918273");
});

describe("built-ins in a config object", () => {
  const schema = { type: "object" };
  test("built-ins in a config object may have functions, which are kept", async () => {
    const handler = () => "done";
    const initialize = () => undefined;
    const given = { name: "myapp_login", inputSchema: schema, handler, initialize };
    const { builtIns } = await readObject({ builtIns: [given] });
    expect(builtIns).toEqual([given]);
    expect(builtIns[0]?.handler).toBe(handler);
    expect(builtIns[0]?.initialize).toBe(initialize);
  });

  test.each([
    [{ name: "a", inputSchema: schema }, ["builtIns", 0]],
    [{ name: "a", inputSchema: schema, handler: {} }, ["builtIns", 0, "handler"]],
    [{ name: "a", inputSchema: schema, handler: { $function: "x" } }, ["builtIns", 0, "handler"]],
    [{ name: "a", inputSchema: () => schema, handler: () => 1 }, ["builtIns", 0, "inputSchema"]],
    [() => 1, ["builtIns", 0]],
  ])("%o is rejected as a built-in", async (definition, path) => {
    expect(await faultsOfObject({ builtIns: [definition] })).toEqual([expect.objectContaining({ path })]);
  });
});

describe("all problems of a config", () => {
  const text = `timeouts: { callMs: 0 }
memory:
  a: 1
  b: true
packs: { alow: [], deny: [acme//x] }
builtIns:
  - { name: "a b", handler: x }
unknown: 1
servers: { a: {} }
mcpServers:
  b: { command: x }
  B: { command: x, args: y, url: https://a.b }
`;
  test("all problems of a config are found at once, in the order of the file", async () => {
    const problems = await faultsOfYaml(text);
    expect(problems.map(({ line, column, path }) => [line, column, path?.join(".")])).toEqual([
      [1, 13, "timeouts.callMs"],
      [3, 3, "memory.a"],
      [4, 3, "memory.b"],
      [5, 10, "packs.alow"],
      [5, 27, "packs.deny.0"],
      [7, 5, "builtIns.0"],
      [7, 7, "builtIns.0.name"],
      [7, 20, "builtIns.0.handler"],
      [8, 1, "unknown"],
      [9, 12, "servers.a"],
      [12, 3, "mcpServers.B"],
      [12, 20, "mcpServers.B.args"],
      [12, 29, "mcpServers.B.url"],
    ]);
  });

  test("several problems of a config make one error, which names the first", async () => {
    const problem = await failureOf(readFrom(makeProject({ "trailblaze.config.yaml": text })));
    expect(problem).toMatchObject({
      code: "InvalidConfig",
      file: "trailblaze.config.yaml",
      line: 1,
      column: 13,
    });
  });

  test("a valid config has no problems", async () => {
    expect(await faultsOfYaml("crash: fail")).toEqual([]);
    expect(await faultsIn(makeProject())).toEqual([]);
  });
});

describe("hostile strings in a config", () => {
  test.each([
    ["trailblaze.config.yaml", "memory: {a: 1", /YAML/],
    ["trailblaze.config.yaml", "memory: *a", /alias/],
    ["trailblaze.config.yaml", "a: &a [*a]", /contains itself/],
    ["trailblaze.config.yaml", "memory: {}\nmemory: {}", /memory/],
    ["trailblaze.config.yaml", `options: ${"[".repeat(201)}${"]".repeat(201)}`, /200/],
    ["trailblaze.config.yaml", `a: &a [1]\nb: &b [${"*a,".repeat(90)}]\nc: [${"*b,".repeat(90)}]\n`, /alias/],
    ["trailblaze.config.yaml", `#${" ".repeat(1 << 20)}`, /1048576/],
    ["trailblaze.config.yaml", Uint8Array.from([0x61, 0xff]), /UTF-8/],
    ["trailblaze.config.json", '{ "memory": {}, "memory": {} }', /"memory"/],
    ["trailblaze.config.json", "[]", /array/],
  ])("%s %j is one problem", async (file, content, words) => {
    const root = makeProject({ [file]: content });
    const problems = await faultsIn(root);
    expect(problems).toEqual([expect.objectContaining({ code: "InvalidConfig", file })]);
    expect(problems[0]?.args).toMatchObject({ reason: expect.stringMatching(words) });
    expect(await failureOf(readFrom(root))).toEqual(problems[0]);
  });
});
