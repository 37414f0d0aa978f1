import { readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { makeProject } from "../session/support/session.ts";
import { connectLegacy, connectModern, serveForTest } from "../support/clients.ts";
import { makeFifo, makeLink } from "../support/special-files.ts";
import type { Tree } from "../support/tree.ts";

const bytes = [0x89, 0x50, 0x4e, 0x47, 0, 255];
/** Handlers of every kind, and a watch with many changes. It uses no `fs.watch`, of which a machine has few. */
const module = `
import { appendFileSync } from "node:fs";
const log = new URL("./log.txt", import.meta.url);
export const text = ({ uri }) => "at " + uri;
export const bytes = () => Uint8Array.from(${JSON.stringify(bytes)});
export const many = ({ uri }) => ({ contents: [{ text: "own" }, { uri: uri + "#2", blob: "AAE=", mimeType: "a/b" }] });
export const item = ({ uri, id }) => ({ contents: [{ uri, text: JSON.stringify({ id }) }] });
export const fails = () => { throw new Error("The archive is closed."); };
export const wrong = () => ({ text: "not contents" });
export const watchItem = ({ uri, id }, { signal, changed }) => {
  appendFileSync(log, "begin " + id + "\\n");
  const timer = setInterval(changed, 20);
  signal.addEventListener("abort", () => {
    clearInterval(timer);
    appendFileSync(log, "end " + id + "\\n");
  });
};
export const failingWatch = async () => { throw new Error("Nothing to watch."); };
export const suggest = (value, { arguments: given }) =>
  value === "many" ? Array.from({ length: 250 }, (_, index) => "v" + index) : [value + JSON.stringify(given)];
`;

const definitions: Readonly<Record<string, object>> = {
  note: { uri: "test://note", mimeType: "text/plain", text: "A note.", title: "Note" },
  file: { uri: "test://file", file: "docs/file.md", mimeType: "text/markdown" },
  image: { uri: "test://image", file: "docs/image.png", mimeType: "image/png" },
  plan: { uri: "test://plan", file: "docs/plan.pdf", mimeType: "application/pdf" },
  text: { uri: "test://text", handler: "./handlers.js#text" },
  bytes: { uri: "test://bytes", mimeType: "text/plain", handler: "./handlers.js#bytes" },
  many: { uri: "test://many", handler: "./handlers.js#many" },
  fails: { uri: "test://fails", handler: "./handlers.js#fails", subscribe: "./handlers.js#failingWatch" },
  wrong: { uri: "test://wrong", handler: "./handlers.js#wrong" },
  item: {
    uriTemplate: "test://items/{id}",
    handler: "./handlers.js#item",
    subscribe: "./handlers.js#watchItem",
    complete: { id: "./handlers.js#suggest" },
  },
};

const resourcePack = (extra: Tree = {}): Tree => ({
  "package.json": {
    trailblaze: { resources: Object.keys(definitions), prompts: ["greet"], servers: ["all"] },
  },
  "handlers.js": module,
  "docs/file.md": "# Title\n",
  "docs/image.png": Buffer.from(bytes),
  "docs/plan.pdf": "%PDF-1.4",
  "log.txt": "",
  ...Object.fromEntries(
    Object.entries(definitions).map(([name, one]) => [`trailblaze/resources/${name}.json`, { name, ...one }]),
  ),
  "trailblaze/prompts/greet.json": {
    name: "greet",
    arguments: [{ name: "style" }],
    content: "Greet in {{style}} style",
    complete: { style: ["Formal", "friendly", "Brief"] },
  },
  "trailblaze/servers/all.json": {
    resources: Object.keys(definitions),
    prompts: ["greet"],
  },
  ...extra,
});

async function serve(extra: Tree = {}, config: object = {}) {
  const cwd = makeProject({ pack: resourcePack(extra) });
  const { url } = await serveForTest("pack/all", { cwd, config: config as never });
  return { folder: join(cwd, "node_modules/pack"), url, client: await connectLegacy(url) };
}

const failing = async (work: Promise<unknown>) =>
  work.then(
    () => "",
    (error: Error) => error.message,
  );

describe.each(["in-process", "process"])(
  "resources of a composed server with the isolation %s",
  (isolation) => {
    test("a client reads text, files, bytes and contents of handlers", async () => {
      const { client } = await serve({}, { isolation });
      const read = async (uri: string) => (await client.readResource({ uri })).contents;
      const { resources } = await client.listResources();
      expect(resources.map(({ uri }) => uri)).toEqual([
        ...["test://note", "test://file", "test://image", "test://plan", "test://text", "test://bytes"],
        ...["test://many", "test://fails", "test://wrong"],
      ]);
      expect(resources[0]).toEqual({
        uri: "test://note",
        name: "note",
        title: "Note",
        mimeType: "text/plain",
        _meta: { "trailblaze/qualifiedName": "pack/note" },
      });
      expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([
        { uriTemplate: "test://items/{id}", name: "item" },
      ]);
      expect(await read("test://note")).toEqual([
        { uri: "test://note", mimeType: "text/plain", text: "A note." },
      ]);
      expect(await read("test://file")).toMatchObject([{ mimeType: "text/markdown", text: "# Title\n" }]);
      const blob = Buffer.from(bytes).toString("base64");
      expect(await read("test://image")).toMatchObject([{ mimeType: "image/png", blob }]);
      expect(await read("test://plan")).toMatchObject([{ blob: btoa("%PDF-1.4") }]);
      expect(await read("test://text")).toEqual([{ uri: "test://text", text: "at test://text" }]);
      // Base64, whatever the media type says.
      expect(await read("test://bytes")).toEqual([{ uri: "test://bytes", mimeType: "text/plain", blob }]);
      expect(await read("test://many")).toEqual([
        { uri: "test://many", text: "own" },
        { uri: "test://many#2", blob: "AAE=", mimeType: "a/b" },
      ]);
      expect(await read("test://items/a%20b")).toMatchObject([{ text: '{"id":"a b"}' }]);
      expect(await failing(read("test://items/..%2Fsecret"))).toContain("Resource not found");
      expect(await failing(read("test://items/a/b"))).toContain("Resource not found");
      expect(await failing(read("test://fails"))).toContain("The archive is closed.");
      expect(await failing(read("test://wrong"))).toContain(
        "must return a string, bytes or an object with `contents`",
      );
    });

    test("a watch runs once for all clients, and ends with the last", async () => {
      const { folder, client, url } = await serve({}, { isolation });
      const log = () => readFileSync(join(folder, "log.txt"), "utf8").trim().split("\n");
      const heard: string[] = [];
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
        heard.push(params.uri);
      });
      const uri = "test://items/7";
      await client.subscribeResource({ uri });
      const other = await connectLegacy(url);
      await other.subscribeResource({ uri });
      const modern = await connectModern(url);
      const subscription = await modern.listen({ resourceSubscriptions: [uri] });
      await expect.poll(log).toEqual(["begin 7"]);
      await expect.poll(() => heard).toContain(uri);
      await client.unsubscribeResource({ uri });
      await (other.transport as StreamableHTTPClientTransport).terminateSession();
      expect(log()).toEqual(["begin 7"]);
      await subscription.close();
      await expect.poll(log).toEqual(["begin 7", "end 7"]);
    });

    test("a client gets suggestions of handlers and of lists", async () => {
      const { client } = await serve({}, { isolation });
      const ofTemplate = { type: "ref/resource", uri: "test://items/{id}" } as const;
      const { completion } = await client.complete({
        ref: ofTemplate,
        argument: { name: "id", value: "x" },
        context: { arguments: { other: "1" } },
      });
      expect(completion.values).toEqual(['x{"other":"1"}']);
      const many = (await client.complete({ ref: ofTemplate, argument: { name: "id", value: "many" } }))
        .completion;
      expect([many.values.length, many.values[99], many.hasMore]).toEqual([100, "v99", true]);
      const ofPrompt = { type: "ref/prompt", name: "greet" } as const;
      const listed = await client.complete({ ref: ofPrompt, argument: { name: "style", value: "F" } });
      expect(listed.completion.values).toEqual(["Formal", "friendly"]);
      const none = await client.complete({ ref: ofPrompt, argument: { name: "other", value: "" } });
      expect(none.completion).toMatchObject({ values: [], hasMore: false });
    });
  },
);

describe("faults of resources", () => {
  test("a file that is not a regular one inside the pack, or is too large, is not read", async () => {
    const { client, folder } = await serve();
    const file = join(folder, "docs/file.md");
    const read = () => failing(client.readResource({ uri: "test://file" }));
    const secret = join(folder, "../../secret.txt");
    writeFileSync(secret, "secret");
    rmSync(file);
    expect(await read()).toContain('The resource\'s file "docs/file.md" cannot be read: it does not exist.');
    makeLink(secret, file);
    expect(await read()).toContain("it is outside the pack");
    rmSync(file);
    makeFifo(file);
    expect(await read()).toContain("it is a named pipe, not a regular file");
    rmSync(file);
    writeFileSync(file, "");
    truncateSync(file, 10 * 2 ** 20 + 1);
    expect(await read()).toContain("it is larger than 10 MiB");
    truncateSync(file, 10 * 2 ** 20);
    expect(await read()).toBe("");
  });

  test("a watch that throws is reported, and the subscription stays", async () => {
    const written: string[] = [];
    const spy = vi.spyOn(process.stderr, "write").mockImplementation((text) => {
      written.push(String(text));
      return true;
    });
    onTestFinished(() => spy.mockRestore());
    const { client } = await serve();
    await client.subscribeResource({ uri: "test://fails" });
    await expect
      .poll(() => written.join(""))
      .toContain("pack/all: test://fails is not watched any more: Nothing to watch.");
    await client.unsubscribeResource({ uri: "test://fails" });
  });

  test("of two resources of different packs with one URI, the first is served", async () => {
    const resource = (text: string): Tree => ({
      "package.json": { trailblaze: { resources: ["one"] } },
      "trailblaze/resources/one.json": { name: "one", uri: "test://one", text },
    });
    const cwd = makeProject({ a: resource("from a"), b: resource("from b") });
    const config = { servers: { both: { resources: ["b/one", "a/one"] } } };
    const client = await connectLegacy((await serveForTest("both", { cwd, config })).url);
    expect((await client.listResources()).resources).toHaveLength(1);
    expect((await client.readResource({ uri: "test://one" })).contents).toMatchObject([{ text: "from b" }]);
    expect(client.getServerCapabilities()?.resources).toEqual({});
  });
});
