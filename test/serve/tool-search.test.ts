// The servers of these sessions end with what serves them, which each test closes.
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";
import { makeProject, toolPack } from "../session/support/session.ts";
import { connectLegacy, connectModern, serveForTest } from "../support/clients.ts";
import { waitUntil } from "../support/wait-until.ts";

const module =
  "export const one = () => 'one'; export const two = () => 'two'; export const search_tools = one;";
const desk = (more: object = {}) =>
  toolPack({ one: {}, two: { description: "Copy a letter." }, ...more }, module);

async function serve(cwd: string, transport: object = {}, toolSearch: object = { above: 1, always: [] }) {
  const session = { watch: false, toolSearch };
  return serveForTest(null, { cwd, transport: { port: 0, ...transport }, session });
}

async function connect(url: string) {
  const client = await connectLegacy(url);
  let changes = 0;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    changes += 1;
  });
  return { client, changes: () => changes };
}

const namesOf = ({ tools }: { tools: { name: string }[] }) => tools.map(({ name }) => name);
const search = { name: "search_tools", arguments: { query: "letter" } };

test("each legacy client sees its own list grow, and a modern one always gets the same", async () => {
  const { url } = await serve(makeProject({ desk: desk() }));
  const ada = await connect(url);
  const eve = await connect(url);
  expect(namesOf(await ada.client.listTools())).toEqual(["search_tools"]);
  expect(namesOf(await eve.client.listTools())).toEqual(["search_tools"]);
  expect((await ada.client.callTool(search)).structuredContent).toMatchObject({ tools: [{ name: "two" }] });
  await waitUntil(() => ada.changes() === 1);
  expect(namesOf(await ada.client.listTools())).toEqual(["search_tools", "two"]);
  await ada.client.callTool(search);
  expect(namesOf(await eve.client.listTools())).toEqual(["search_tools"]);
  expect(eve.changes()).toBe(0);
  expect(ada.changes()).toBe(1);
  expect(await eve.client.callTool({ name: "one" })).toMatchObject({ content: [{ text: "one" }] });
  await expect(eve.client.callTool({ name: "three" })).rejects.toMatchObject({ code: -32602 });

  const modern = await connectModern(url);
  expect(namesOf(await modern.listTools())).toEqual(["search_tools"]);
  expect((await modern.callTool(search)).structuredContent).toMatchObject({ tools: [{ name: "two" }] });
  expect(namesOf(await modern.listTools())).toEqual(["search_tools"]);
  expect(await modern.callTool({ name: "two" })).toMatchObject({ content: [{ text: "two" }] });
});

test("few tools are listed as they are, `always` stands before the search, and a stateless list never grows", async () => {
  const cwd = makeProject({ desk: desk() });
  const few = await connect((await serve(cwd, {}, { above: 2 })).url);
  expect(namesOf(await few.client.listTools())).toEqual(["one", "two"]);
  const some = await connect((await serve(cwd, {}, { above: 1, always: ["desk/two"] })).url);
  expect(namesOf(await some.client.listTools())).toEqual(["two", "search_tools"]);
  await some.client.callTool(search);
  await some.client.callTool({ name: "search_tools", arguments: { query: "one" } });
  await waitUntil(() => some.changes() > 0);
  expect(some.changes()).toBe(1);
  for (const args of [{}, { query: 1 }, { query: "x", limit: 0 }])
    expect(await some.client.callTool({ name: "search_tools", arguments: args })).toMatchObject({
      isError: true,
    });
  const stateless = await serve(cwd, { stateless: true });
  const client = await connectLegacy(stateless.url);
  await client.callTool(search);
  expect(namesOf(await client.listTools())).toEqual(["search_tools"]);
  expect(await client.callTool({ name: "two" })).toMatchObject({ content: [{ text: "two" }] });
});
