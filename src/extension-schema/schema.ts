// The shape of the field as JSON Schema has it. It is read at build time only, by `npm run generate`: loading zod would double
// the time of a `list`, so `parseExtension` checks the field by hand. A test compares the two.
import { z } from "zod";
import type { Kind } from "../kinds.ts";
import { itemNamePattern } from "./item-name-pattern.ts";
import { variablePattern } from "./needs.ts";

const itemName = z.string().regex(itemNamePattern).meta({
  description:
    "The item's name: 1 to 64 characters from A-Z, a-z, 0-9, _ . and -, starting with a letter or digit.",
});
const description = z.string().meta({ description: "The purpose of the item, in one sentence." });
const references = z
  .array(z.string())
  .meta({ description: "References to items, shown in search results before the pack is installed." });
const inputs = z
  .union([
    z.array(z.union([z.string(), z.record(z.string(), z.unknown())])),
    z.record(z.string(), z.unknown()),
  ])
  .meta({
    description: "Names, or names with details, shown in search results before the pack is installed.",
  });

const resourceText = (what: string) =>
  z.string().meta({ description: `${what}, shown in search results before the pack is installed.` });

/** Form 3 of a declaration: an object with additional keys, which depend on the kind. */
export const declarationObjects = {
  server: z.object({
    name: itemName,
    description: description.optional(),
    tools: references.optional(),
    toolsets: references.optional(),
    prompts: references.optional(),
    resources: references.optional(),
  }),
  tool: z.object({ name: itemName, description: description.optional(), parameters: inputs.optional() }),
  toolset: z.object({ name: itemName, description: description.optional(), tools: references.optional() }),
  prompt: z.object({ name: itemName, description: description.optional(), arguments: inputs.optional() }),
  resource: z.object({
    name: itemName,
    description: description.optional(),
    uri: resourceText("The URI").optional(),
    uriTemplate: resourceText("The template of the URIs").optional(),
    mimeType: resourceText("The media type").optional(),
  }),
};

/** The three forms: a name; a name and a description; an object. */
function declarations(kind: Kind, what: string) {
  const declaration = z.union([itemName, z.tuple([itemName, description]), declarationObjects[kind]]);
  return z.array(declaration).optional().meta({ description: what });
}

const strings = (what: string) => z.array(z.string()).optional().meta({ description: what });

/** An absent key is not declared; an empty array means none. */
export const needs = z.object({
  env: z.array(z.string().regex(variablePattern)).optional().meta({
    description:
      "The environment variables that `envPassthrough` of the pack's servers names. Enforced: a server that names others does not start.",
  }),
  network: strings("The hosts that the pack connects to. Not enforced."),
  read: strings("The files and folders that the pack reads. Not enforced."),
  write: strings("The files and folders that the pack writes. Not enforced."),
  tools: strings("The tools of others that the pack's code calls. Not enforced."),
});

export const extension = z
  .object({
    $schema: z
      .unknown()
      .optional()
      .meta({ description: "The address of a JSON Schema, for editors. Trailblaze ignores it." }),
    root: z.string().min(1).default("trailblaze").meta({
      description: "The folder of the definition files, relative to the package.",
    }),
    servers: declarations("server", "MCP servers that the pack provides."),
    tools: declarations("tool", "Tools that the pack provides."),
    toolsets: declarations("toolset", "Groups of tools that the pack provides."),
    prompts: declarations("prompt", "Prompts that the pack provides."),
    resources: declarations("resource", "Resources that the pack provides."),
    needs: needs.optional().meta({ description: "What the pack needs, to read before installing it." }),
  })
  .meta({
    title: "The trailblaze field of a package.json",
    description:
      "The MCP servers, tools, toolsets, prompts and resources that a pack provides. Custom keys start with x-.",
  });
