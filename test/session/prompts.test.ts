import { describe, expect, test } from "vitest";
import type { SessionOptions } from "../../src/session.ts";
import { fixture } from "../mcp/client/start-fixture.ts";
import { makeProject, openForTest, toolPack, withServers } from "./support/session.ts";

const line = (content: object) => `${JSON.stringify({ jsonrpc: "2.0", id: "ID", ...content })}\n`;
const answer = (result: object) => line({ result });
const user = (text: string) => ({ role: "user", content: { type: "text", text } });

/** A server of the config that lists these prompts and answers every request for one alike. */
const server = (name: string, prompts: readonly object[], more: object = {}, get?: string) => ({
  name,
  command: process.execPath,
  args: [
    fixture,
    JSON.stringify({
      capabilities: { tools: {}, prompts: {} },
      pages: [{ tools: [] }],
      answers: {
        "prompts/list": answer({ prompts }),
        "prompts/get": get ?? answer({ description: "Says hi.", messages: [user(`from ${name}`)] }),
      },
    }),
  ],
  ...more,
});

/** A pack with these prompts, whose handlers are in one module. */
const promptPack = (prompts: Readonly<Record<string, object>>, module = "") =>
  toolPack({}, `${module}\nexport const inner = () => "inner";`, {
    "package.json": { trailblaze: { prompts: Object.keys(prompts) } },
    ...Object.fromEntries(
      Object.entries(prompts).map(([name, definition]) => [
        `trailblaze/prompts/${name}.json`,
        { name, description: `The prompt ${name}.`, ...definition },
      ]),
    ),
  });
const greet = {
  title: "Greet",
  content: "Hello {{who}}!",
  arguments: [{ name: "who", description: "Whom.", required: true }, { name: "tone" }],
};

const open = (packs: Parameters<typeof makeProject>[0], config: object = {}, options: SessionOptions = {}) =>
  openForTest(makeProject(packs), { ...options, config: config as never });

describe("the prompts of a session", () => {
  test("prompts of packs and of servers are listed, each with its source", async () => {
    const listed = [
      { name: "review", title: "Review", arguments: [{ name: "file", required: true }] },
      { name: "plain" },
    ];
    const session = await open({ "@acme/desk": promptPack({ greet }) }, withServers(server("docs", listed)));
    const source = { type: "config", server: "docs" };
    expect(session.prompts).toEqual([
      { ...listed[0], qualifiedName: null, source },
      { name: "plain", qualifiedName: null, arguments: [], source },
      {
        name: "greet",
        qualifiedName: "acme/desk/greet",
        title: "Greet",
        description: "The prompt greet.",
        arguments: greet.arguments,
        source: expect.objectContaining({ type: "pack", pack: "@acme/desk", item: "greet" }),
      },
    ]);
    expect(session.skipped).toEqual([]);
  });

  test("a prompt is got by its advertised name, its qualified name and `LABEL/PROMPT`", async () => {
    const session = await open(
      { "@acme/desk": promptPack({ greet }) },
      withServers(server("docs", [{ name: "my review" }], { prefix: "d" })),
    );
    const expected = { description: "The prompt greet.", messages: [user("Hello Ada!")] };
    for (const name of ["greet", "acme/desk/greet", "@acme/desk/greet"]) {
      expect(await session.getPrompt(name, { who: "Ada" })).toEqual(expected);
    }
    for (const name of ["d_my_review", "docs/my review", "my review"]) {
      const got = await session.getPrompt(name);
      expect(got).toEqual({ description: "Says hi.", messages: [user("from docs")] });
    }
  });

  test("the policy for packs excludes prompts, and a name says so", async () => {
    const pack = promptPack({ greet, other: { content: "x" } });
    const session = await open({ "@acme/desk": pack }, { packs: { deny: ["acme/desk/other"] } });
    expect(session.prompts.map(({ name }) => name)).toEqual(["greet"]);
    await expect(session.getPrompt("acme/desk/other")).rejects.toMatchObject({ code: "PromptNotFound" });
  });
});

describe("what goes wrong with a prompt", () => {
  test("an unknown name is `PromptNotFound`, with the nearest names", async () => {
    const session = await open({ "@acme/desk": promptPack({ greet }) }, withServers(server("docs", [])));
    await expect(session.getPrompt("gret", {})).rejects.toMatchObject({
      code: "PromptNotFound",
      problem: { hint: "Did you mean greet?" },
    });
    await expect(session.getPrompt("docs/none")).rejects.toMatchObject({
      code: "PromptNotFound",
      message: expect.stringContaining('server "docs" has no such prompt'),
    });
    await expect(session.getPrompt("toString")).rejects.toMatchObject({ code: "PromptNotFound" });
  });

  test("a missing argument, and one that is no string, are `InvalidArguments`", async () => {
    const listed = [{ name: "review", arguments: [{ name: "file", required: true }] }];
    const session = await open({ "@acme/desk": promptPack({ greet }) }, withServers(server("docs", listed)));
    for (const [name, argument] of [
      ["greet", "who"],
      ["review", "file"],
    ] as const) {
      const message = expect.stringContaining(`"${argument}"`);
      await expect(session.getPrompt(name)).rejects.toMatchObject({ code: "InvalidArguments", message });
    }
    for (const args of [{ who: 5 }, [], null]) {
      const got = session.getPrompt("greet", args as never);
      await expect(got).rejects.toMatchObject({ code: "InvalidArguments" });
    }
    // As in MCP, other arguments are ignored.
    await expect(session.getPrompt("greet", { who: "Ada", more: "x" })).resolves.toMatchObject({});
  });

  test("what a handler or a server answers with is `PromptFailed`, with its message", async () => {
    const module = `
      export const fails = () => { throw new Error("no template"); };
      export const none = () => 5;
      export const calls = async ({ tool }, { callTool }) => JSON.stringify(await callTool(tool));
      export const hangs = () => new Promise(() => {});`;
    const handlers = ["fails", "none", "calls", "hangs"];
    const prompts = handlers.map((name) => [name, { handler: `./handlers.js#${name}` }] as const);
    const refusal = line({ error: { code: -32602, message: "which\u0007 file?" } });
    const session = await open(
      { "@acme/desk": promptPack(Object.fromEntries(prompts), module) },
      { ...withServers(server("docs", [{ name: "review" }], {}, refusal)) },
    );
    const failing = (name: string, options = {}) => session.getPrompt(name, {}, options);
    await expect(failing("fails")).rejects.toMatchObject({ code: "PromptFailed", message: "no template" });
    await expect(failing("none")).rejects.toMatchObject({ code: "PromptFailed" });
    await expect(failing("review")).rejects.toMatchObject({
      code: "PromptFailed",
      message: expect.stringMatching(/^Server "docs" failed: .*-32602: which.*file\?/),
    });
    await expect(failing("hangs", { timeoutMs: 50 })).rejects.toMatchObject({
      code: "PromptFailed",
      message: "The prompt did not answer within 50 ms.",
    });
    const { messages } = await session.getPrompt("calls", { tool: "none" });
    expect(messages[0]?.content).toMatchObject({ text: expect.stringContaining("not found") });
    const gone = { signal: AbortSignal.abort(new Error("enough")) };
    await expect(failing("hangs", gone)).rejects.toThrow("enough");
    const closed = expect(failing("hangs")).rejects.toMatchObject({ code: "SessionClosed" });
    await session.close();
    await closed;
    await expect(failing("fails")).rejects.toMatchObject({ code: "SessionClosed" });
  });
});
