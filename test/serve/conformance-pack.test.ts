import { ResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";
import { connectToCommand } from "../support/clients.ts";
import { inRepository } from "../support/repository.ts";
import { runCli } from "../support/run-cli.ts";

const folder = inRepository("fixtures/conformance-pack");

async function connect() {
  const { client } = await connectToCommand(folder, "conformance-pack/everything");
  /** The answer as it came over the wire: the client's own methods would take unknown keys out. */
  const request = (method: string, params: Record<string, unknown> = {}) =>
    client.request({ method, params }, ResultSchema);
  return { client, request };
}

test("the conformance pack is valid", async () => {
  const run = await runCli(["validate", ".", "--json"], { cwd: folder });
  expect(run).toMatchObject({ exitCode: 0 });
});

test("the conformance pack's content blocks and messages reach the client unchanged", async () => {
  const { request } = await connect();
  const tools: Record<string, () => unknown> = await import(`${folder}/lib/tools.js`);
  const asWritten = [
    ["test_image_content", tools.imageContent],
    ["test_audio_content", tools.audioContent],
    ["test_embedded_resource", tools.embeddedResource],
    ["test_multiple_content_types", tools.multipleContentTypes],
    ["test_resource_link", tools.resourceLink],
  ] as const;
  for (const [name, handler] of asWritten) {
    expect(await request("tools/call", { name, arguments: {} })).toEqual(handler?.());
  }
  const uri = "test://{{resourceUri}}/$&";
  const embedded = await request("prompts/get", {
    name: "test_prompt_with_embedded_resource",
    arguments: { resourceUri: uri },
  });
  expect(embedded.messages).toEqual([
    {
      role: "user",
      content: {
        type: "resource",
        resource: { uri, mimeType: "text/plain", text: "Embedded resource content for testing." },
      },
    },
    { role: "user", content: { type: "text", text: "Please process the embedded resource above." } },
  ]);
  const { messages } = await request("prompts/get", { name: "test_prompt_with_image" });
  const { image } = await import(`${folder}/lib/media.js`);
  expect(messages).toEqual([
    { role: "user", content: image },
    { role: "user", content: { type: "text", text: "Please analyze the image above." } },
  ]);
});

test("a method of a capability that is not offered is MethodNotFound", async () => {
  const { client, request } = await connect();
  const capabilities = Object.keys(client.getServerCapabilities() ?? {});
  expect(capabilities.sort()).toEqual(["completions", "logging", "prompts", "resources", "tools"]);
  for (const method of ["tasks/list", "tasks/get", "no/such"]) {
    await expect(request(method)).rejects.toMatchObject({ code: -32601 });
  }
});
