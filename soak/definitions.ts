import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import type { Random } from "../bench/support/random.ts";
import { inspectPack, validateExtension } from "../src/index.ts";
import { keyOfKind, kinds } from "../src/kinds.ts";
import { packManifest } from "../test/support/packs.ts";
import { writeTree } from "../test/support/tree.ts";
import { checkProblems } from "./support/check-problems.ts";
import { mutateBytes, mutateJson, mutateValue } from "./support/mutate.ts";
import { expectThat, type Part } from "./support/part.ts";

const definitionsOfKind = 4;

const originals = {
  server: [
    {
      script: "./main.js",
      args: ["--fast"],
      env: { A: "b" },
      envPassthrough: ["TOKEN"],
      instructions: "Ask.",
    },
    { tools: ["tool0", "tool1"], toolsets: ["toolset0"], prompts: ["prompt0"], mcpServerName: "soaked" },
    { command: "node", args: ["main.js"], needs: { env: ["TOKEN"] }, start: "lazy", transport: "stdio" },
  ],
  tool: [
    {
      name: "soaked_first",
      title: "First",
      description: "The first.",
      inputSchema: {
        type: "object",
        properties: {
          text: { type: "string", pattern: "^[a-z]+$", minLength: 1 },
          list: { type: "array", items: { $ref: "#/$defs/one" } },
          mode: { enum: ["a", "b"], default: "a" },
        },
        required: ["text"],
        $defs: { one: { oneOf: [{ type: "integer", minimum: 0 }, { type: "null" }] } },
        additionalProperties: false,
      },
      outputSchema: { type: "object", properties: { ok: { type: "boolean" } } },
      annotations: { readOnlyHint: true },
      handler: "./tool.js#echo",
      _meta: { "trailblaze/supportedPlatforms": ["ANDROID"], trailblaze: { isForLlm: false } },
    },
    {
      name: "soaked_second",
      description: "The second.",
      parameters: { key: { type: "string", description: "A key.", required: true } },
      steps: [{ tool: "soaked_first", arguments: { text: "${{ params.key + '!' }}" } }],
      handler: "./tool.js#echo",
    },
  ],
  toolset: [
    { name: "set", description: "Some of them.", tools: ["tool0", "tool1", "soaked/tool2"] },
    { kind: "Mcp.Tools", tools: [{ name: "bundled", inputSchema: { type: "object" } }] },
  ],
  prompt: [
    {
      name: "say",
      description: "Says it.",
      arguments: [{ name: "what", description: "What to say.", required: true }],
      content: [
        { role: "user", content: { type: "text", text: "Say {{what}}." } },
        { role: "assistant", content: { type: "text", text: "{{what}}" } },
      ],
      complete: { what: ["this", "that"] },
    },
    { name: "tell", content: "Tell {{it}}.", arguments: [{ name: "it" }] },
  ],
  resource: [
    {
      name: "page",
      description: "A page.",
      uri: "soaked://page",
      mimeType: "text/plain",
      file: "./page.txt",
    },
    { name: "made", uri: "soaked://made/{id}", handler: "./tool.js#echo", description: "Made." },
  ],
};

/** Every second definition of a kind is YAML. */
const isYaml = (index: number) => index % 2 === 1;

/** A value as YAML, or as JSON, which is YAML too, where it is nested too deep for the library. */
function writeYaml(value: unknown): string {
  try {
    return stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return JSON.stringify(value);
  }
}

function mutateYaml(random: Random, original: unknown): Uint8Array {
  const value = random.chance(0.7) ? mutateValue(random, original) : original;
  const bytes = Buffer.from(random.chance(0.3) ? JSON.stringify(value) : writeYaml(value));
  return value === original || random.chance(0.1) ? mutateBytes(random, bytes) : bytes;
}

/** Inspection, and now and then validation, of a pack with mutated definitions of every kind beside a sound one. */
export const definitions: Part = {
  steps: 100_000 / (definitionsOfKind * kinds.length),
  // Validation starts a process that confines code.
  limitMs: 2000,
  async open({ folder }) {
    const names = (kind: string) =>
      Array.from({ length: definitionsOfKind }, (_, index) => `${kind}${index}`);
    const declared = Object.fromEntries(kinds.map((kind) => [keyOfKind[kind], names(kind)]));
    const extension = { ...declared, tools: [...names("tool"), "sound"] };
    const pack = join(folder, "node_modules/soaked");
    const sound = { name: "soaked_sound", inputSchema: { type: "object" }, handler: "./tool.js#echo" };
    writeTree(folder, { "package.json": { name: "project", private: true, dependencies: { soaked: "*" } } });
    writeTree(pack, {
      "package.json": packManifest("soaked", { trailblaze: extension }),
      "tool.js": "export const echo = ({ text }) => text;\n",
      "main.js": "",
      "page.txt": "A page.\n",
      "trailblaze/tools/sound.json": sound,
      ...Object.fromEntries(kinds.map((kind) => [`trailblaze/${keyOfKind[kind]}/.keep`, ""])),
    });
    return {
      async step(random) {
        for (const kind of kinds) {
          for (const [index, name] of names(kind).entries()) {
            const original = random.pick<object>(originals[kind]);
            const bytes = isYaml(index) ? mutateYaml(random, original) : mutateJson(random, original);
            const file = `trailblaze/${keyOfKind[kind]}/${name}.${isYaml(index) ? "yaml" : "json"}`;
            writeFileSync(join(pack, file), bytes);
          }
        }
        const inspected = await inspectPack("soaked", { cwd: folder });
        checkProblems(inspected.problems);
        JSON.stringify(inspected);
        const read = inspected.tools.find(({ name }) => name === "sound");
        expectThat(read?.definition?.name === "soaked_sound", () => "broken definitions hide a sound one");
        const items = kinds.flatMap((kind) => inspected[keyOfKind[kind]]);
        const counts = {
          definitions: definitionsOfKind * kinds.length,
          valid: items.filter(({ definition }) => definition !== null).length - 1,
          problems: inspected.problems.length,
        };
        if (!random.chance(0.1)) return counts;
        const { problems } = await validateExtension(pack);
        checkProblems(problems);
        return { ...counts, validations: 1 };
      },
      close: async () => {},
    };
  },
};
