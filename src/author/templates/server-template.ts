import { commonFiles, formatManifest } from "./common-files.ts";
import { formatModeline, type Template } from "./template.ts";

const about = {
  summary: "an MCP server that runs in its own process",
  preparation: [],
  trial: ({ prefix }) => `npx trailblaze call ${prefix}_countWords text="one two three"`,
} satisfies Omit<Template, "files">;

const definition = `${formatModeline("server")}name: words
script: ./server/main.js
`;

const program = `import { readFileSync } from "node:fs";
import { run } from "@trailblaze/scripting";
import { countWords } from "./count-words.js";

const { name, version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

// From here on, stdout belongs to the protocol: log to stderr.
await run({ name, version, tools: [countWords] });
`;

const formatTool = (
  prefix: string,
): string => `/** @type {import("@trailblaze/scripting").ToolDefinition<{ text: string }>} */
export const countWords = {
  name: "${prefix}_countWords",
  description: "Count the words of a text.",
  inputSchema: {
    type: "object",
    properties: { text: { type: "string", description: "The text." } },
    required: ["text"],
  },
  annotations: { readOnlyHint: true },
  handler: ({ text }) => ({ words: text.split(/\\s+/).filter((word) => word !== "").length }),
};
`;

const test = `import assert from "node:assert/strict";
import { test } from "node:test";
import { countWords } from "../server/count-words.js";

test("counts words separated by white space", () => {
  assert.deepEqual(countWords.handler({ text: "  one two\\nthree " }), { words: 3 });
});

test("counts no words in an empty text", () => {
  assert.deepEqual(countWords.handler({ text: "" }), { words: 0 });
});
`;

/** A standard MCP server, which sessions and other clients can start. */
export const serverTemplate: Template = {
  ...about,
  files: (values) => ({
    "package.json": formatManifest(values, {
      description: "Counts words.",
      files: ["server", "trailblaze"],
      trailblaze: {
        servers: [{ name: "words", description: "Tools for texts", tools: [`${values.prefix}_countWords`] }],
      },
      // `run` has the SDK as a peer dependency.
      dependencies: {
        "@modelcontextprotocol/sdk": "^1.22.0",
        "@trailblaze/scripting": `^${values.hostVersion}`,
      },
    }),
    "trailblaze/servers/words.yaml": definition,
    "server/main.js": program,
    "server/count-words.js": formatTool(values.prefix),
    "test/count-words.test.js": test,
    ...commonFiles(about, values, {
      about: `A Trailblaze pack with one server, \`words\`: the process \`server/main.js\`, which speaks MCP over stdio and offers
\`${values.prefix}_countWords\`. Any MCP client can start it: \`node server/main.js\`.`,
    }),
  }),
};
