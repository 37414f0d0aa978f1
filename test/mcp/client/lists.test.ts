import { describe, expect, test } from "vitest";
import { firstText } from "../../support/first-text.ts";
import { addPromptAndResources, serveLegacy, serveModern } from "../../support/remote-servers.ts";
import { startRemote } from "../remote/start-remote.ts";
import { call, startFixture } from "./start-fixture.ts";

const line = (content: object) => `${JSON.stringify({ jsonrpc: "2.0", id: "ID", ...content })}\n`;
const list = (result: object) => line({ result });
const capabilities = { tools: {}, prompts: {}, resources: {} };
const answers = {
  "prompts/list": list({ prompts: [{ name: "greet" }] }),
  "resources/list": list({ resources: [{ uri: "a:b", name: "b" }] }),
  "resources/templates/list": list({ resourceTemplates: [{ uriTemplate: "a:{b}", name: "t" }] }),
};

describe("lists beside that of the tools", () => {
  test("the lists are fetched at once, and only those of capabilities", async () => {
    const pages = [{ tools: [], nextCursor: "1" }, { tools: [{ name: "received", inputSchema: {} }] }];
    const server = await startFixture({ pages, capabilities, answers }).ready;
    const { content } = await server.call("tools/call", call("received"));
    const methods = (JSON.parse(String(firstText({ content }))) as { method: string }[]).map(
      (one) => one.method,
    );
    // The second page is asked for when the first has arrived.
    expect(methods.slice(2, 7)).toEqual([
      ...["tools/list", "prompts/list", "resources/list", "resources/templates/list", "tools/list"],
    ]);
    expect(server).toMatchObject({
      prompts: [{ name: "greet" }],
      resources: [{ uri: "a:b" }],
      resourceTemplates: [{ uriTemplate: "a:{b}" }],
    });
    const plain = await startFixture({ strict: true }).ready;
    expect(plain).toMatchObject({ prompts: [], resources: [], resourceTemplates: [] });
  });

  test.each([
    ["an error", { "prompts/list": line({ error: { code: -32603, message: "broken" } }) }, "-32603: broken"],
    ["no list", { "prompts/list": list({ prompts: 5 }) }, "`prompts` must be an array"],
    [
      "too many entries",
      { "prompts/list": list({ prompts: Array.from({ length: 9 }, () => ({})) }) },
      "more than 8 prompts",
    ],
  ])("a server that answers with %s keeps its tools and its other lists", async (_, broken, reason) => {
    const limits = { list: { pages: 3, entries: 8, bytes: 10_000 } };
    const { ready, reports } = startFixture(
      { capabilities, answers: { ...answers, ...broken }, pages: [{ tools: [] }] },
      { limits },
    );
    expect(await ready).toMatchObject({ prompts: [], resources: [{ uri: "a:b" }] });
    expect(reports.failed).toEqual([["prompts", expect.stringContaining(reason)]]);
  });

  test("a list that does not come is left out after the time for lists", async () => {
    const timeouts = { handshakeMs: 20_000, listMs: 200 };
    const { ready, reports } = startFixture(
      { capabilities, answers, silent: ["resources/list"] },
      { launch: { timeouts } },
    );
    const server = await ready;
    expect(server).toMatchObject({ prompts: [{ name: "greet" }], resources: [] });
    expect(server.tools).not.toEqual([]);
    expect(reports.failed).toEqual([["resources", "it did not answer `resources/list` within 200 ms"]]);
  });

  test.each([
    ["prompts/get", { messages: [{ role: "system", content: { type: "text" } }] }, "`messages`"],
    ["resources/read", { contents: [{ uri: "a:b" }] }, "`contents`"],
  ])("an invalid result of `%s` is a failure", async (method, result, word) => {
    const server = await startFixture({ capabilities, answers: { ...answers, [method]: list(result) } })
      .ready;
    const failed =
      method === "prompts/get"
        ? server.call("prompts/get", { name: "greet" })
        : server.call("resources/read", { uri: "a:b" });
    await expect(failed).rejects.toMatchObject({ message: expect.stringContaining(word) });
  });
});

test.each([
  ["a legacy", () => serveLegacy(0, addPromptAndResources), "legacy"],
  ["a modern", () => serveModern({ legacy: "reject", add: addPromptAndResources }), "modern"],
])("%s remote server's prompts and resources are listed and given", async (_, serve, era) => {
  const remote = await serve();
  const server = await startRemote(remote.url).ready;
  expect(server).toMatchObject({
    era,
    prompts: [{ name: "summarize", title: "Summarize", arguments: [{ name: "topic", required: true }] }],
    resources: [{ uri: "docs://readme", name: "readme", mimeType: "text/markdown" }],
  });
  const prompt = await server.call("prompts/get", { name: "summarize", arguments: { topic: "tea" } });
  expect(prompt).toMatchObject({ messages: [{ role: "user", content: { text: "About tea" } }] });
  const { contents } = await server.call("resources/read", { uri: "docs://readme" });
  expect(contents).toMatchObject([{ uri: "docs://readme", text: "text of docs://readme" }]);
  const listen = remote.received.find(({ message }) => message?.method === "subscriptions/listen");
  if (era === "modern")
    expect(listen?.message.params.notifications).toEqual({
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
    });
});
