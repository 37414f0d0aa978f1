import { skillEntry } from "@modelcontextprotocol/server/ext/skills";

/** The text of a SKILL.md. */
export const skillText = (name: string, text = "Do it.", more = "") =>
  `---\nname: ${name}\ndescription: How to ${name}.\n${more}---\n${text}\n`;

/** The entry of a skill with these files, as the SDK writes it, and their contents by URI. */
export async function describeSkill(path: string, files: Readonly<Record<string, string>>) {
  const entry = await skillEntry(path, files);
  const root = entry.uri.slice(0, -"SKILL.md".length);
  const contents = Object.fromEntries(Object.entries(files).map(([file, text]) => [root + file, text]));
  return { entry, contents };
}

/** A server that lists the skills of `skills.json` beside it, in one of the two eras: `{ skills, contents }`. */
export const skillServer = `
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
const isModern = process.argv[2] === "modern";
const read = () => JSON.parse(readFileSync(new URL("./skills.json", import.meta.url), "utf8"));
const capabilities = { tools: {}, resources: {}, extensions: { "io.modelcontextprotocol/skills": {} } };
const serverInfo = { name: "skilled", version: "1.0.0" };
const handlers = {
  initialize: ({ protocolVersion }) => !isModern && { protocolVersion, capabilities, serverInfo },
  "server/discover": () => isModern && { supportedVersions: ["2026-07-28"], capabilities },
  "tools/list": () => ({ tools: [] }),
  "resources/list": () => ({ resources: [] }),
  "resources/templates/list": () => ({ resourceTemplates: [] }),
  "skills/list": () => ({ skills: read().skills }),
  "resources/read": ({ uri }) => {
    const text = read().contents[uri];
    return text !== undefined && { contents: [{ uri, text }] };
  },
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = handlers[method]?.(params);
  const isKnown = method !== "resources/read";
  const modern = isModern && { resultType: "complete", ttlMs: 0, cacheScope: "private" };
  const error = { code: isKnown ? -32601 : -32002, message: "Not found" };
  const answer = result ? { result: { ...modern, ...result } } : { error };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...answer }) + "\\n");
});
`;
