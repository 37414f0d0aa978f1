import { Client as ModernClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ServerCompletion } from "../../src/mcp/client/connected-server.ts";
import { serveHttp } from "../../src/mcp/http/serve-http.ts";
import type { ServedServer } from "../../src/mcp/served-server.ts";
import type { ReadAnswer } from "../../src/runtime/pack-resource.ts";
import { createServed, erasOf } from "./modern/modern-served.ts";

const text = (uri: string, content: string) => ({ uri, mimeType: "text/plain", text: content });

/** A server with two listed resources, a template, and watches whose changes the test makes. */
function createResources() {
  const watched = new Map<string, () => void>();
  const reads: Record<string, () => Promise<ReadAnswer>> = {
    "test://text": async () => ({ contents: [text("test://text", "hello")], isStatic: true }),
    "test://bytes": async () => ({
      contents: [{ uri: "test://bytes", mimeType: "image/png", blob: "iVBORw==" }],
      isStatic: false,
    }),
    "test://fails": async () => {
      throw new Error("The forecast is not available.");
    },
  };
  const completions: ServerCompletion[] = [];
  const suggest: NonNullable<ServedServer["complete"]> = (request) => {
    completions.push(request);
    const { ref, argument } = request;
    const name = ref.type === "ref/prompt" ? ref.name : ref.uri;
    if (!["greet", "test://item/{id}"].includes(name)) return undefined;
    if (argument.value === "fail") return Promise.reject(new Error("No list today."));
    const all = Array.from({ length: 250 }, (_, index) => `${argument.value}${index}`);
    return Promise.resolve({ values: argument.name === "who" ? [...all.slice(0, 2), 3, null] : all });
  };
  const plain = createServed();
  const served: ServedServer = {
    ...plain,
    list(key) {
      if (key === "resourceTemplates") return [{ uriTemplate: "test://item/{id}", name: "item" }];
      return key === "resources"
        ? Object.keys(reads).map((uri) => ({ uri, name: uri.slice(7) }))
        : plain.list(key);
    },
    findResource(uri) {
      if (uri.startsWith("test://item/"))
        return async () => ({ contents: [text(uri, "an item")], isStatic: false });
      return Object.hasOwn(reads, uri) ? reads[uri] : undefined;
    },
    subscribe: (uri, changed) => {
      watched.set(uri, () => changed(uri));
      return () => void watched.delete(uri);
    },
    complete: suggest,
  };
  return { served, watched, completions };
}

const info = { name: "test", version: "1.0.0" };

/** A client of an era over a transport, and the URIs that it has heard of. */
async function connect(served: ServedServer, era: "legacy" | "modern", over: "http" | "connection") {
  const client =
    era === "legacy" ? new Client(info) : new ModernClient(info, { versionNegotiation: { mode: "auto" } });
  onTestFinished(() => client.close());
  const heard: string[] = [];
  if (client instanceof Client)
    client.setNotificationHandler(
      ResourceUpdatedNotificationSchema,
      ({ params }) => void heard.push(params.uri),
    );
  else
    client.setNotificationHandler(
      "notifications/resources/updated",
      ({ params }) => void heard.push(params.uri),
    );
  const { session, requests, connection } = erasOf(served);
  if (over === "http") {
    const running = await serveHttp(session, { label: "test", modern: requests(), graceMs: 200 });
    onTestFinished(() => running.close());
    const url = new URL(running.url);
    await client.connect(
      (client instanceof Client ? new LegacyHttp(url) : new StreamableHTTPClientTransport(url)) as never,
    );
    return { client, heard, running };
  }
  const [near, far] = InMemoryTransport.createLinkedPair();
  const running = connection({ sessionId: "1" });
  await running.connect(far as never);
  await client.connect(near as never);
  return { client, heard, running };
}

const eras = [
  { era: "legacy", over: "http" },
  { era: "legacy", over: "connection" },
  { era: "modern", over: "http" },
  { era: "modern", over: "connection" },
] as const;

const failing = async (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    ({ code, message, data }) => ({ code, message, data }),
  );

describe.each(eras)("resources of a served server for a $era client over $over", ({ era, over }) => {
  test("suggestions are limited to 100 strings, with their total", async () => {
    const { served, completions } = createResources();
    const { client } = await connect(served, era, over);
    const resource = { type: "ref/resource", uri: "test://item/{id}" } as const;
    const { completion } = await client.complete({
      ref: resource,
      argument: { name: "id", value: "a" },
      context: { arguments: { other: "x" } },
    });
    expect(completion).toMatchObject({ total: 250, hasMore: true });
    expect([completion.values.length, completion.values[99]]).toEqual([100, "a99"]);
    expect(completions[0]).toEqual({
      ref: resource,
      argument: { name: "id", value: "a" },
      context: { arguments: { other: "x" } },
    });
    const prompt = { type: "ref/prompt", name: "greet" } as const;
    expect(await client.complete({ ref: prompt, argument: { name: "who", value: "b" } })).toMatchObject({
      completion: { values: ["b0", "b1"], total: 2, hasMore: false },
    });
    expect(
      await failing(client.complete({ ref: prompt, argument: { name: "who", value: "fail" } })),
    ).toMatchObject({ message: expect.stringContaining("No list today.") });
    const unknown = {
      ref: { type: "ref/prompt", name: "none" },
      argument: { name: "a", value: "" },
    } as const;
    expect(await failing(client.complete(unknown))).toMatchObject({ code: -32602 });
  });
});

describe("subscriptions to resources", () => {
  test.each(["http", "connection"] as const)(
    "a legacy client over %s hears of changes until it unsubscribes",
    async (over) => {
      const { served, watched } = createResources();
      const { client, heard } = await connect(served, "legacy", over);
      if (!(client instanceof Client)) throw new Error("This is no legacy client.");
      await client.subscribeResource({ uri: "test://item/1" });
      await client.subscribeResource({ uri: "test://text" });
      watched.get("test://item/1")?.();
      await expect.poll(() => heard).toEqual(["test://item/1"]);
      await client.unsubscribeResource({ uri: "test://item/1" });
      expect([...watched.keys()]).toEqual(["test://text"]);
      expect(await failing(client.subscribeResource({ uri: "test://none" }))).toMatchObject({ code: -32002 });
    },
  );

  test.each(["http", "connection"] as const)(
    "a modern client over %s hears of the URIs that it listens to",
    async (over) => {
      const { served, watched } = createResources();
      const { client, heard } = await connect(served, "modern", over);
      if (client instanceof Client) throw new Error("This is no modern client.");
      const resourceSubscriptions = ["test://item/1"];
      const subscription = await client.listen({ resourceSubscriptions });
      expect(subscription.honoredFilter).toEqual({ resourceSubscriptions });
      expect([...watched.keys()]).toEqual(["test://item/1"]);
      watched.get("test://item/1")?.();
      await expect.poll(() => heard).toEqual(["test://item/1"]);
      await subscription.close();
      await expect.poll(() => [...watched.keys()]).toEqual([]);
    },
  );

  test.each(eras)(
    "the watches of a $era client over $over end with its connection",
    async ({ era, over }) => {
      const { served, watched } = createResources();
      const { client, running } = await connect(served, era, over);
      if (client instanceof Client) await client.subscribeResource({ uri: "test://text" });
      else await client.listen({ resourceSubscriptions: ["test://text"] });
      expect(watched.size).toBe(1);
      if (over === "http") await running.close();
      else await client.close();
      await expect.poll(() => watched.size).toBe(0);
    },
  );

  test("of requests that a legacy client makes at once, at most 1000 subscribe", async () => {
    const { served, watched } = createResources();
    const { client } = await connect(served, "legacy", "connection");
    if (!(client instanceof Client)) throw new Error("This is no legacy client.");
    const asked = Array.from({ length: 1002 }, (_, index) =>
      failing(client.subscribeResource({ uri: `test://item/${index}` })),
    );
    const refused = (await Promise.all(asked)).filter((one) => one !== undefined);
    expect(refused).toMatchObject([{ code: -32602 }, { code: -32602 }]);
    expect(watched.size).toBe(1000);
  });
});

test("what clients may keep is said with lists and static resources, and of handlers' answers nothing", async () => {
  const { client } = await connect(createResources().served, "modern", "http");
  expect(await client.listResources()).toMatchObject({ ttlMs: 300_000, cacheScope: "public" });
  expect(await client.listResourceTemplates()).toMatchObject({ ttlMs: 300_000, cacheScope: "public" });
  expect(await client.readResource({ uri: "test://text" })).toMatchObject({ ttlMs: 300_000 });
  expect(await client.readResource({ uri: "test://bytes" })).toMatchObject({
    ttlMs: 0,
    cacheScope: "private",
  });
});
