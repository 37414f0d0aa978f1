// The shape of the field as JSON Schema has it. It is read at build time only, by `npm run generate`: loading zod would double
// the time of a `list`, so `parseExtension` checks the field by hand. A test compares the two.
import { z } from "zod";
import { type Kind, kinds } from "../kinds.ts";
import { declarationKeys, needsKeys, variablePattern } from "./parse-extension.ts";
import { itemNamePattern } from "./shared-schema.ts";

const itemName = z.string().regex(itemNamePattern).meta({
  description:
    "The item's name: 1 to 64 characters from A-Z, a-z, 0-9, _ . and -, starting with a letter or digit.",
});
const description = z.string().meta({ description: "The purpose of the item, in one sentence." });
const whenShown = "shown in search results before the pack is installed.";
const references = z.array(z.string()).meta({ description: `References to items, ${whenShown}` });
const inputs = z
  .union([
    z.array(z.union([z.string(), z.record(z.string(), z.unknown())])),
    z.record(z.string(), z.unknown()),
  ])
  .meta({ description: `Names, or names with details, ${whenShown}` });
const texts: Readonly<Record<string, string>> = {
  uri: "The URI",
  uriTemplate: "The template of the URIs",
  mimeType: "The media type",
};

function schemaOfKey(key: string, what: string) {
  if (key === "name") return itemName;
  if (key === "description") return description.optional();
  if (what === "a string")
    return z
      .string()
      .meta({ description: `${texts[key]}, ${whenShown}` })
      .optional();
  return (what === "an array of strings" ? references : inputs).optional();
}

/** Form 3 of a declaration: an object with additional keys, which depend on the kind. */
export const declarationObjects = Object.fromEntries(
  kinds.map((kind) => {
    const keys = Object.entries(declarationKeys[kind]);
    return [kind, z.object(Object.fromEntries(keys.map(([key, { what }]) => [key, schemaOfKey(key, what)])))];
  }),
) as Record<Kind, z.ZodObject>;

/** The three forms: a name; a name and a description; an object. */
function declarations(kind: Kind, what: string) {
  const declaration = z.union([itemName, z.tuple([itemName, description]), declarationObjects[kind]]);
  return z.array(declaration).optional().meta({ description: what });
}

const needsWords: Readonly<Record<(typeof needsKeys)[number], string>> = {
  env: "The environment variables that `envPassthrough` of the pack's servers names. Enforced: a server that names others does not start.",
  network: "The hosts that the pack connects to. Not enforced.",
  read: "The files and folders that the pack reads. Not enforced.",
  write: "The files and folders that the pack writes. Not enforced.",
  tools: "The tools of others that the pack's code calls. Not enforced.",
};

/** An absent key is not declared; an empty array means none. */
export const needs = z.object(
  Object.fromEntries(
    needsKeys.map((key) => {
      const entry = key === "env" ? z.string().regex(variablePattern) : z.string();
      return [key, z.array(entry).optional().meta({ description: needsWords[key] })];
    }),
  ),
);

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
    skills: declarations("skill", "Which folders with a SKILL.md count; without this key, all of them."),
    needs: needs.optional().meta({ description: "What the pack needs, to read before installing it." }),
  })
  .meta({
    title: "The trailblaze field of a package.json",
    description:
      "The MCP servers, tools, toolsets, prompts, resources and skills that a pack provides. Custom keys start with x-.",
  });
