// The one source of the field's shape. It is read at build time only: `npm run generate` makes from it the JSON
// Schema that we export and the validators that run, because zod at start-up would double the time of a `list`.
import { z } from "zod";
import type { Kind } from "../kinds.ts";

const devices = ["con", "prn", "aux", "nul"].map(anyCase);
const numberedDevices = ["com", "lpt"].map((name) => `${anyCase(name)}[0-9]`);

function anyCase(word: string): string {
  return word.replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);
}

/** JSON Schema knows no flags, so the rule of `explainInvalidItemName` is spelt out; a test compares the two. */
export const itemNamePattern = new RegExp(
  "^(?!(?:__proto__|constructor|prototype)$)" +
    `(?!(?:${[...devices, ...numberedDevices].join("|")})(?:\\..*)?$)(?!.*\\.$)` +
    "[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$",
);

const itemName = z.string().regex(itemNamePattern).meta({
  description: "Name of the item: 1 to 64 of A-Z, a-z, 0-9, _ . and -, beginning with a letter or digit.",
});
const description = z.string().meta({ description: "What the item is for, in a sentence." });
const references = z
  .array(z.string())
  .meta({ description: "References to items, shown while the pack is not installed." });
const inputs = z
  .union([
    z.array(z.union([z.string(), z.record(z.string(), z.unknown())])),
    z.record(z.string(), z.unknown()),
  ])
  .meta({ description: "Names, or names with what is said of them; shown while the pack is not installed." });

/** Form 3 of a declaration: an object, with the further keys of its kind. */
export const declarationObjects = {
  server: z.object({
    name: itemName,
    description: description.optional(),
    tools: references.optional(),
    toolsets: references.optional(),
    prompts: references.optional(),
  }),
  tool: z.object({ name: itemName, description: description.optional(), parameters: inputs.optional() }),
  toolset: z.object({ name: itemName, description: description.optional(), tools: references.optional() }),
  prompt: z.object({ name: itemName, description: description.optional(), arguments: inputs.optional() }),
};

/** The three forms: a name; a name and a description; an object. */
function declarations(kind: Kind, what: string) {
  const declaration = z.union([itemName, z.tuple([itemName, description]), declarationObjects[kind]]);
  return z.array(declaration).optional().meta({ description: what });
}

export const extension = z
  .object({
    root: z.string().min(1).default("trailblaze").meta({
      description: "Folder of the definition files, relative to the package.",
    }),
    servers: declarations("server", "MCP servers that the pack brings."),
    tools: declarations("tool", "Tools that the pack brings."),
    toolsets: declarations("toolset", "Groups of tools that the pack brings."),
    prompts: declarations("prompt", "Prompts that the pack brings."),
  })
  .meta({
    title: "The trailblaze field of a package.json",
    description:
      "Which MCP servers, tools, toolsets and prompts a pack brings. Keys beginning with x- are free.",
  });
