// An MCP server that says what `list.json` next to it contains, and notes each start in `started.txt`. Without that file, this
// only says how it answers.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export function answerTo({ id, method, params }, lists) {
  const { instructions, tools, prompts, resources, templates = [], isModern, results = {} } = lists;
  const modern = isModern && { resultType: "complete", ttlMs: 0, cacheScope: "private" };
  const answer = (result) => ({ jsonrpc: "2.0", id, result: { ...modern, ...result, ...results[method] } });
  const serverInfo = { name: "list", version: "1.0.0" };
  const capabilities = { tools: {}, ...(prompts && { prompts: {} }), ...(resources && { resources: {} }) };
  const { protocolVersion, name, uri, arguments: { exit, link } = {} } = params ?? {};
  switch (method) {
    case "server/discover":
      return answer({ supportedVersions: ["2026-07-28"], capabilities, serverInfo, instructions });
    case "initialize":
      if (isModern) return { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } };
      return answer({ protocolVersion, capabilities, serverInfo, instructions });
    case "prompts/list":
      return answer({ prompts });
    case "resources/list":
      return answer({ resources });
    case "resources/templates/list":
      return answer({ resourceTemplates: templates });
    case "prompts/get":
      return answer({ messages: [{ role: "user", content: { type: "text", text: `got ${name}` } }] });
    case "resources/read":
      return answer({ contents: [{ uri, text: `read ${uri}` }] });
    case "tools/list":
      return answer({ tools });
    case "tools/call":
      if (exit) process.exit(3);
      if (link) return answer({ content: [{ type: "resource_link", name: "linked", uri: link }] });
      return answer({ content: [{ type: "text", text: `called ${name}` }] });
  }
}

const at = (name) => fileURLToPath(new URL(name, import.meta.url));
if (existsSync(at("list.json"))) {
  appendFileSync(at("started.txt"), "started\n");
  const lists = JSON.parse(readFileSync(at("list.json"), "utf8"));
  createInterface({ input: process.stdin }).on("line", (line) => {
    const answer = answerTo(JSON.parse(line), lists);
    if (answer !== undefined) process.stdout.write(`${JSON.stringify(answer)}\n`);
  });
}
