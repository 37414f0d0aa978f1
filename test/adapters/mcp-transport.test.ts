import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttp,
} from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, test } from "vitest";
import { mcpTransport } from "../../src/adapters.ts";
import { openFollowed } from "../session/support/followed.ts";
import { makeProject, openForTest, toolPack } from "../session/support/session.ts";
import { serveForTest } from "../support/clients.ts";
import { writeTree } from "../support/tree.ts";

const city = { complete: { city: ["Rome", "Riga", "Oslo"] } };
const desk = toolPack({ greet: {} }, 'export const greet = ({ name = "you" }) => "Hello, " + name + "!";', {
  "package.json": { trailblaze: { prompts: ["welcome"], resources: ["rules", "map"] } },
  "trailblaze/prompts/welcome.json": {
    name: "welcome",
    description: "Welcome.",
    arguments: [{ name: "city", required: true }],
    content: "Welcome to {{city}}.",
    ...city,
  },
  "trailblaze/resources/rules.json": { name: "rules", uri: "desk://rules", text: "Be kind." },
  "trailblaze/resources/map.json": {
    name: "map",
    uriTemplate: "desk://maps/{city}",
    text: "A map.",
    ...city,
  },
});

const clients = [
  ["version 1", () => new Client({ name: "host", version: "1.0.0" }), StreamableHTTPClientTransport],
  [
    "version 2, of the modern era",
    () =>
      new ModernClient(
        { name: "host", version: "1.0.0" },
        { versionNegotiation: { mode: { pin: "2026-07-28" } } },
      ) as unknown as Client,
    ModernHttp as unknown as typeof StreamableHTTPClientTransport,
  ],
] as const;

/** All that a client can ask for. */
async function readOffer(client: Client) {
  const complete = (ref: Parameters<Client["complete"]>[0]["ref"]) =>
    client.complete({ ref, argument: { name: "city", value: "r" } });
  return {
    server: client.getServerVersion(),
    instructions: client.getInstructions(),
    capabilities: client.getServerCapabilities(),
    tools: (await client.listTools()).tools,
    prompts: (await client.listPrompts()).prompts,
    resources: (await client.listResources()).resources,
    templates: (await client.listResourceTemplates()).resourceTemplates,
    called: (await client.callTool({ name: "greet", arguments: { name: "Ada" } })).content,
    prompt: (await client.getPrompt({ name: "welcome", arguments: { city: "Rome" } })).messages,
    rules: (await client.readResource({ uri: "desk://rules" })).contents,
    map: (await client.readResource({ uri: "desk://maps/Oslo" })).contents,
    cities: (await complete({ type: "ref/prompt", name: "welcome" })).completion.values,
    maps: (await complete({ type: "ref/resource", uri: "desk://maps/{city}" })).completion.values,
  };
}

describe("mcpTransport", () => {
  test.each(clients)(
    "a client of the SDK's %s gets what `start` offers, and closing it leaves the session open",
    async (_title, create, Http) => {
      const cwd = makeProject({ "@acme/desk": desk });
      const session = await openForTest(cwd);
      const inMemory = create();
      await inMemory.connect(mcpTransport(session));
      const offer = await readOffer(inMemory);
      expect(offer).toMatchObject({
        tools: [{ name: "greet" }],
        prompts: [{ name: "welcome" }],
        resources: [{ uri: "desk://rules" }],
        templates: [{ uriTemplate: "desk://maps/{city}" }],
        called: [{ text: "Hello, Ada!" }],
        cities: ["Rome", "Riga"],
        maps: ["Rome", "Riga"],
      });
      await inMemory.close();
      expect((await session.callTool("greet", { name: "Bob" })).message).toBe("Hello, Bob!");

      const { url } = await serveForTest(null, { cwd, session: { watch: false } });
      const overHttp = create();
      await overHttp.connect(new Http(new URL(url)));
      expect(await readOffer(overHttp)).toEqual(offer);
      await overHttp.close();
    },
  );

  test("a client hears that the tools of a session that follows its project have changed", async () => {
    const cwd = makeProject({ "@acme/desk": desk }, { "trailblaze.config.json": {} });
    const { session, change } = await openFollowed(cwd, {}, { served: false });
    const heard = new Promise<string[]>((resolve) => {
      const onChanged = (_: Error | null, items: { name: string }[] | null) =>
        resolve((items ?? []).map(({ name }) => name));
      const tools = { debounceMs: 0, onChanged };
      const listing = new Client({ name: "host", version: "1.0.0" }, { listChanged: { tools } });
      void listing.connect(mcpTransport(session));
    });
    await change(() => writeTree(cwd, { "trailblaze.config.json": { packs: { deny: ["acme/desk"] } } }));
    expect(await heard).toEqual([]);
  });

  test("closing the session ends the connection, and a closed one refuses the next", async () => {
    const session = await openForTest(makeProject({ "@acme/desk": desk }));
    const client = new Client({ name: "host", version: "1.0.0" });
    await client.connect(mcpTransport(session));
    const ended = new Promise<void>((resolve) => {
      client.onclose = resolve;
    });
    await session.close();
    await ended;
    await expect(client.listTools()).rejects.toThrow();
    await expect(client.connect(mcpTransport(session))).rejects.toThrow("closed");
  });
});
