import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { expect, test } from "vitest";
import { mcpTransport } from "../../src/adapters.ts";
import { makeProject, openForTest, toolPack } from "../session/support/session.ts";
import { connectLegacy, serveForTest } from "../support/clients.ts";

// Claude Code puts mcp__trailblaze__ before a name, and models' APIs take 64 characters.
const longest = 64 - "mcp__trailblaze__".length;
const short = "a".repeat(longest);
const names = ["b", "c"].map((letter) => `${"x".repeat(longest)}${letter}`);

const pack = toolPack(
  Object.fromEntries([short, ...names].map((name) => [name, {}])),
  [short, ...names].map((name) => `export const ${name} = () => "${name.at(-1)}";`).join("\n"),
  {
    "package.json": { trailblaze: { prompts: ["ask"], servers: ["desk"] } },
    "trailblaze/prompts/ask.json": {
      name: `${"p".repeat(longest)}q`,
      content: "Go.",
    },
    "trailblaze/servers/desk.json": { tools: [short, ...names], prompts: ["ask"] },
  },
);

async function connectToSession() {
  const client = new Client({ name: "tester", version: "1.0.0" });
  await client.connect(mcpTransport(await openForTest(makeProject({ desk: pack }))));
  return client;
}

const connectToServer = async () =>
  connectLegacy((await serveForTest("desk/desk", { cwd: makeProject({ desk: pack }) })).url);

test.each([
  ["a session", connectToSession],
  ["a composed server", connectToServer],
])(
  "%s serves names that clients can prefix, and is called by these and the whole ones",
  async (_, connect) => {
    const client = await connect();
    const served = (await client.listTools()).tools.map(({ name }) => name);
    expect(served).toEqual([short, ...names.map(() => expect.stringMatching(/^x{38}_[0-9a-f]{8}$/))]);
    expect(new Set(served).size).toBe(3);
    for (const [index, name] of [...served, short, ...names].entries()) {
      const { content } = await client.callTool({ name, arguments: {} });
      expect(content).toEqual([{ type: "text", text: "abc"[index % 3] }]);
    }
    const [prompt] = (await client.listPrompts()).prompts;
    expect(prompt?.name).toMatch(/^p{38}_[0-9a-f]{8}$/);
    expect((await client.getPrompt({ name: prompt?.name ?? "" })).messages).toHaveLength(1);
  },
);
