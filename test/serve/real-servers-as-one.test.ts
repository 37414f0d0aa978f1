// Real servers from npm, served as one by the built command. They end with their client.
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeProject } from "../session/support/session.ts";
import { connectToCommand, waitForTools } from "../support/clients.ts";
import { inRepository } from "../support/repository.ts";

const entry = (name: string, more: object = {}) => ({
  name,
  package: `@modelcontextprotocol/server-${name}`,
  ...more,
});

test("real servers from npm are served as one, with their prefixes and names, and each answers a call", async () => {
  const cwd = makeProject({});
  symlinkSync(inRepository("node_modules"), join(cwd, "node_modules"));
  const trailblazeSubprocessToolsets = [
    entry("everything", { tools: { deny: ["get-env"] } }),
    entry("filesystem", { args: ["."], prefix: "fs" }),
    // As its README has it; npx finds it where it is installed.
    {
      name: "memory",
      cwd: inRepository(""),
      command: "npx",
      args: ["-y", "@modelcontextprotocol/server-memory"],
      env: { MEMORY_FILE_PATH: join(cwd, "memory.json") },
    },
  ];
  writeFileSync(
    join(cwd, "trailblaze.config.json"),
    JSON.stringify({ logDir: "logs", trailblazeSubprocessToolsets }),
  );
  const { client } = await connectToCommand(cwd, "--no-watch");

  await waitForTools(client, "echo", "get-sum", "fs_read_text_file", "read_graph");
  const names = (await client.listTools()).tools.map(({ name }) => name);
  for (const absent of ["get-env", "read_text_file"]) expect(names).not.toContain(absent);
  expect(new Set(names).size).toBe(names.length);

  const textOf = async (name: string, given: Record<string, unknown> = {}) => {
    const { content } = await client.callTool({ name, arguments: given });
    return (content as { text: string }[])[0]?.text;
  };
  expect(await textOf("echo", { message: "hi" })).toBe("Echo: hi");
  expect(await textOf("fs_read_text_file", { path: join(cwd, "package.json") })).toContain('"app"');
  expect(JSON.parse((await textOf("read_graph")) ?? "")).toEqual({ entities: [], relations: [] });
});
