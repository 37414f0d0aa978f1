import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Tree } from "../support/tree.ts";
import { makeProject, openForTest, toolPack, withServers } from "./support/session.ts";

const module = `
export const text = ({ uri }) => "at " + uri;
export const fails = () => { throw new Error("The archive is closed."); };
export const hangs = () => new Promise(() => {});
export const asks = async (_args, { callTool }) => (await callTool("link")).content[0].name;
export const link = () => ({ content: [{ type: "resource_link", uri: "shared://one", name: "one" }] });
`;

const resource = (name: string, definition: object): Tree => ({
  [`trailblaze/resources/${name}.json`]: { name, ...definition },
});

const packOf = (name: string, extra: Tree = {}): Tree =>
  toolPack(
    { link: { name: `${name}_link` } },
    module.replace('callTool("link")', `callTool("${name}_link")`),
    {
      "package.json": {
        trailblaze: { resources: ["text", "fails", "hangs", "asks", "shared", "page"] },
      },
      ...resource("text", { uri: `${name}://text`, handler: "./handlers.js#text", title: "Text" }),
      ...resource("fails", { uri: `${name}://fails`, handler: "./handlers.js#fails" }),
      ...resource("hangs", { uri: `${name}://hangs`, handler: "./handlers.js#hangs" }),
      ...resource("asks", { uri: `${name}://asks`, handler: "./handlers.js#asks" }),
      ...resource("shared", { uri: "shared://one", text: `from ${name}` }),
      ...resource("page", { uriTemplate: `${name}://pages/{page}`, handler: "./handlers.js#text" }),
      ...extra,
    },
  );

/** A server that offers \`shared://one\` and links to a resource that it does not list. */
const linking = (prefix: string) => `
  import { Server } from ${JSON.stringify(import.meta.resolve("@modelcontextprotocol/sdk/server/index.js"))};
  import { StdioServerTransport } from ${JSON.stringify(import.meta.resolve("@modelcontextprotocol/sdk/server/stdio.js"))};
  import * as types from ${JSON.stringify(import.meta.resolve("@modelcontextprotocol/sdk/types.js"))};
  const server = new Server({ name: "linking", version: "1.0.0" }, { capabilities: { tools: {}, resources: {} } });
  const link = (uri) => ({ type: "resource_link", uri, name: "linked" });
  server.setRequestHandler(types.ListToolsRequestSchema, () => ({ tools: [{ name: "${prefix}_links", inputSchema: { type: "object" } }] }));
  server.setRequestHandler(types.CallToolRequestSchema, () => ({ content: [link("shared://one"), link("hidden://1")] }));
  server.setRequestHandler(types.ListResourcesRequestSchema, () => ({ resources: [{ uri: "shared://one", name: "one" }] }));
  server.setRequestHandler(types.ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [{ uriTemplate: "${prefix}://{+path}", name: "paths" }] }));
  server.setRequestHandler(types.ReadResourceRequestSchema, ({ params: { uri } }) => {
    const [, code, message] = /=(-?\\d+):(.*)/.exec(decodeURIComponent(uri)) ?? [];
    if (code) throw Object.assign(new Error(message), { code: Number(code) });
    return { contents: [{ uri, text: "${prefix} has " + uri }] };
  });
  await server.connect(new StdioServerTransport());
`;

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error) => error.code ?? error.message,
  );

describe("resources of packs in a session", () => {
  test.each(["in-process", "process"] as const)(
    "%s: they are listed with their source, and read",
    async (isolation) => {
      const cwd = makeProject({ one: packOf("one"), two: packOf("two") });
      const session = await openForTest(cwd, { config: { isolation, timeouts: { callMs: 30_000 } } });
      expect(session.resources.map(({ uri, uriTemplate }) => uri ?? uriTemplate)).toEqual(
        ["one", "two"].flatMap((name) => [
          ...[`${name}://text`, `${name}://fails`, `${name}://hangs`, `${name}://asks`],
          ...["shared://one", `${name}://pages/{page}`],
        ]),
      );
      expect(session.resources[0]).toEqual({
        uri: "one://text",
        name: "text",
        title: "Text",
        source: expect.objectContaining({ type: "pack", pack: "one", item: "text" }),
      });
      const read = async (uri: string) => (await session.readResource(uri)).contents;
      expect(await read("one://text")).toEqual([{ uri: "one://text", text: "at one://text" }]);
      expect(await read("two://pages/a%20b")).toMatchObject([{ text: "at two://pages/a%20b" }]);
      expect(await read("one://asks")).toMatchObject([{ text: "one" }]);
      expect(await read("shared://one")).toMatchObject([{ text: "from one" }]);
      await session.callTool("two_link");
      expect(await read("shared://one")).toMatchObject([{ text: "from two" }]);
    },
  );

  test("what fails, hangs or does not exist rejects with its code", async () => {
    const session = await openForTest(makeProject({ one: packOf("one") }));
    await expect(session.readResource("one://fails")).rejects.toMatchObject({
      code: "ResourceFailed",
      message: "The archive is closed.",
    });
    await expect(session.readResource("one://hangs", { timeoutMs: 20 })).rejects.toMatchObject({
      code: "ResourceFailed",
      message: "The resource did not answer within 20 ms.",
    });
    await expect(session.readResource("one://texts")).rejects.toMatchObject({
      code: "ResourceNotFound",
      problem: { hint: "Did you mean one://text?" },
    });
    expect(await codeOf(session.readResource("one://pages/..%2Fx"))).toBe("ResourceNotFound");
    expect(await codeOf(session.readResource(""))).toBe("ResourceNotFound");
    const stop = new AbortController();
    const stopped = session.readResource("one://hangs", { signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(stopped).rejects.toThrow("enough");
    const open = codeOf(session.readResource("one://hangs"));
    await session.close();
    expect(await open).toBe("SessionClosed");
    expect(await codeOf(session.readResource("one://text"))).toBe("SessionClosed");
  });

  test("a denied resource is neither listed nor read", async () => {
    const cwd = makeProject({ one: packOf("one") });
    const session = await openForTest(cwd, { config: { packs: { deny: ["one/text"] } } });
    expect(session.resources.map(({ name }) => name)).not.toContain("text");
    expect(await codeOf(session.readResource("one://text"))).toBe("ResourceNotFound");
  });
});

test("a link is read by the server that made it, listed or not", async () => {
  const cwd = makeProject({ pack: packOf("pack") });
  const servers = ["a", "b"].map((name) => {
    const file = join(cwd, `${name}.mjs`);
    writeFileSync(file, linking(name));
    return { name, command: process.execPath, args: [file] };
  });
  const session = await openForTest(cwd, { config: withServers(...servers) });
  const read = async (uri: string) => (await session.readResource(uri)).contents[0]?.text;
  expect(await read("shared://one")).toBe("a has shared://one");
  expect(await codeOf(read("hidden://1"))).toBe("ResourceNotFound");
  await session.callTool("b_links");
  expect(await read("shared://one")).toBe("b has shared://one");
  expect(await read("hidden://1")).toBe("b has hidden://1");
  expect(await read("b://some/path")).toBe("b has b://some/path");
  for (const [answer, code] of [
    ["-32002:No such thing", "ResourceNotFound"],
    ["-32602:Bad", "ResourceNotFound"],
    ["-32603:The table was not found", "ResourceFailed"],
  ])
    await expect(read(`a://x=${encodeURIComponent(String(answer))}`)).rejects.toMatchObject({ code });
});
