import { PassThrough } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import type { ServedServer } from "../../src/mcp/served-server.ts";
import { serveStdio } from "../../src/mcp/stdio/serve-stdio.ts";
import { erasOf } from "../mcp/modern/modern-served.ts";

const served: ServedServer = {
  info: { name: "test", version: "1.0.0" },
  instructions: undefined,
  tools: [],
  prompts: [],
  report: () => {},
};

/** Answers to messages over stdio. */
async function answersTo(messages: readonly object[]): Promise<string[]> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const { close } = await serveStdio(erasOf(served).connection, {
    input,
    output,
  });
  onTestFinished(close);
  for (const message of messages) input.write(`${JSON.stringify(message)}\n`);
  let text = "";
  output.on("data", (chunk) => {
    text += chunk;
  });
  await expect.poll(() => text.split("\n").length - 1).toBe(messages.length);
  return text.trimEnd().split("\n");
}

const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
const wrong = [null, 5, "x", [], {}, true, [5]];

test("every kind of invalid `initialize` has an explanation", async () => {
  const changes = wrong.flatMap((value) => [
    { ...params, clientInfo: { ...params.clientInfo, title: value } },
    { ...params, clientInfo: { ...params.clientInfo, websiteUrl: value } },
    { ...params, clientInfo: { ...params.clientInfo, icons: value } },
    { ...params, capabilities: { roots: { listChanged: value } } },
    { ...params, capabilities: { experimental: { a: value } } },
    { ...params, capabilities: { tasks: { list: value } } },
    { ...params, _meta: { progressToken: value } },
  ]);
  const messages = changes.map((changed, id) => ({
    jsonrpc: "2.0",
    id,
    method: "initialize",
    params: changed,
  }));
  const answers = await answersTo(messages);
  for (const answer of answers) expect(answer).not.toMatch(/invalid_|\\"(?:expected|path|code)\\"/);
  const first = answers.map((answer) => JSON.parse(answer)).find(({ id }) => id === 0);
  expect(first.error.message).toBe("params.clientInfo.title: Invalid input: expected string, received null.");
});
