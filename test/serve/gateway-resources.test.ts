import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeProject, toolPack } from "../session/support/session.ts";
import { connectLegacy, connectModern, hearUpdates, serveForTest } from "../support/clients.ts";
import { packManifest } from "../support/packs.ts";
import { type Tree, writeTree } from "../support/tree.ts";

const pack: Tree = {
  "package.json": { trailblaze: { resources: ["file", "item", "fails"] } },
  "handlers.js": `
    export const item = ({ id }, { log }) => { log("info", "read"); return "item " + id; };
    export const watch = ({ id }, { changed, signal }) => {
      const timer = id === "soon" && setInterval(changed, 50);
      signal.addEventListener("abort", () => clearInterval(timer));
    };
    export const fails = () => { throw new Error("The archive is closed."); };
    export const suggest = (value) => [value + "1"];`,
  "docs/file.md": "first",
  "trailblaze/resources/file.json": { name: "file", uri: "test://file", file: "docs/file.md" },
  "trailblaze/resources/fails.json": { name: "fails", uri: "test://fails", handler: "./handlers.js#fails" },
  "trailblaze/resources/item.json": {
    name: "item",
    uriTemplate: "test://items/{id}",
    handler: "./handlers.js#item",
    subscribe: "./handlers.js#watch",
    complete: { id: "./handlers.js#suggest" },
  },
};

async function serve() {
  const cwd = makeProject({ pack });
  const { url } = await serveForTest(null, { cwd, config: { logDir: "logs" } });
  const [legacy, modern] = [await connectLegacy(url), await connectModern(url)];
  return { folder: join(cwd, "node_modules/pack"), legacy, modern };
}

test("a served session offers the resources of packs, and says when one changes", async () => {
  const { folder, legacy, modern } = await serve();
  for (const client of [legacy, modern]) {
    expect(client.getServerCapabilities()?.resources).toEqual({ listChanged: true, subscribe: true });
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri).sort()).toEqual(["test://fails", "test://file"]);
    const read = async (uri: string) => (await client.readResource({ uri })).contents[0];
    expect(await read("test://file")).toMatchObject({ text: "first" });
    expect(await read("test://items/7")).toMatchObject({ uri: "test://items/7", text: "item 7" });
    await expect(read("test://fails")).rejects.toThrow("The archive is closed.");
    await expect(read("test://none")).rejects.toMatchObject({ code: client === legacy ? -32002 : -32602 });
    const ref = { type: "ref/resource", uri: "test://items/{id}" } as const;
    const { completion } = await client.complete({ ref, argument: { name: "id", value: "a" } });
    expect(completion.values).toEqual(["a1"]);
  }
  const heard = hearUpdates(legacy, modern);
  await legacy.subscribeResource({ uri: "test://items/soon" });
  await modern.listen({ resourceSubscriptions: ["test://items/soon", "test://file"] });
  // What is not followed is not acknowledged, and one request leaves places for others.
  const honored = async (from: number) => {
    const uris = Array.from({ length: 1500 }, (_, at) => `test://unknown/${from + at}`);
    return (await modern.listen({ resourceSubscriptions: uris })).honoredFilter.resourceSubscriptions?.length;
  };
  for (let from = 0; from < 9000; from += 1000) expect(await honored(from)).toBe(1000);
  expect(await honored(9000)).toBe(998);
  const refused = legacy.subscribeResource({ uri: "test://items/9999" });
  await expect(refused).rejects.toMatchObject({ code: -32602 });
  await expect
    .poll(() => heard)
    .toEqual(expect.arrayContaining(["legacy test://items/soon", "modern test://items/soon"]));
  writeFileSync(join(folder, "docs/file.md"), "second");
  expect((await legacy.readResource({ uri: "test://file" })).contents).toMatchObject([{ text: "second" }]);
});

test("clients hear of resources that an update changes, adds and removes", async () => {
  const { folder, modern } = await serve();
  await modern.listResources();
  const heard: string[] = [];
  for (const method of ["notifications/resources/updated", "notifications/resources/list_changed"] as const)
    modern.setNotificationHandler(method, () => void heard.push(method));
  await modern.listen({ resourcesListChanged: true, resourceSubscriptions: ["test://fails"] });
  writeTree(folder, {
    "trailblaze/resources/fails.json": { name: "fails", uri: "test://fails", text: "repaired" },
    "package.json": packManifest("pack", { version: "1.0.1", trailblaze: { resources: ["fails"] } }),
  });
  await expect
    .poll(() => heard)
    .toEqual(
      expect.arrayContaining(["notifications/resources/updated", "notifications/resources/list_changed"]),
    );
  const uris = (await modern.listResources()).resources.map(({ uri }) => uri);
  expect(uris).toContain("test://fails");
  expect(uris).not.toContain("test://file");
  expect((await modern.readResource({ uri: "test://fails" })).contents).toMatchObject([{ text: "repaired" }]);
});

test("a large result is cut for clients, who can read the whole, and is an error if its schema wants what is left out", async () => {
  const tool = (more: object) => ({ inputSchema: { type: "object" }, ...more });
  const large = `() => ({ content: [{ type: "text", text: "x".repeat(150) }], structuredContent: { rows: "y".repeat(150) } })`;
  const schema = { outputSchema: { type: "object", required: ["rows"] } };
  const tools = { loose: tool({}), strict: tool(schema), fails: tool(schema), huge: tool({}) };
  const code = `export const loose = ${large}; export const strict = loose;
    export const fails = () => ({ content: [{ type: "text", text: "none" }], isError: true, structuredContent: { a: 1 } });
    export const huge = () => "x".repeat(100_001);`;
  const cwd = makeProject({ big: toolPack(tools, code) });
  const config = { logDir: "logs", results: { maxChars: 100 } };
  const { url } = await serveForTest(null, { cwd, config });
  for (const connect of [connectLegacy, connectModern]) {
    const client = await connect(url);
    const call = (name: string) => client.callTool({ name, arguments: {} });
    const { content, isError, structuredContent } = await call("loose");
    expect([isError ?? false, structuredContent]).toEqual([false, undefined]);
    expect(await call("strict")).toMatchObject({ isError: true, content: [{ type: "text" }, {}, {}] });
    // Clients that know the schema would refuse what an error has beside its text.
    await client.listTools();
    expect(await call("fails")).toMatchObject({ isError: true, content: [{ text: "none" }] });
    const uri = (content as { uri?: string }[])[1]?.uri ?? "";
    expect((await client.readResource({ uri })).contents).toEqual([
      { uri, mimeType: "text/plain", text: "x".repeat(150) },
    ]);
    const other = await connectLegacy(url);
    await expect(other.readResource({ uri })).rejects.toMatchObject({ code: -32002 });
  }
  // Without a limit in the config, it has 100,000 characters.
  const byDefault = await connectModern((await serveForTest(null, { cwd, config: { logDir: "logs" } })).url);
  const { content } = await byDefault.callTool({ name: "huge", arguments: {} });
  expect(content).toMatchObject([
    { text: expect.stringContaining("\n[1 characters left out: file:") },
    { type: "resource_link" },
  ]);
});
