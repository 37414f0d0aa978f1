// The single source of the field's shape. It is read at build time only: `npm run generate` creates the exported JSON
// Schema and the validators from it, because loading zod would double the time of a `list`.
import { z } from "zod";
import type { Kind } from "../kinds.ts";
import { type NeedsKey, needsPatterns } from "./needs.ts";

const devices = ["con", "prn", "aux", "nul"].map(anyCase);
const numberedDevices = ["com", "lpt"].map((name) => `${anyCase(name)}[0-9]`);

function anyCase(word: string): string {
  return word.replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);
}

/** JSON Schema patterns have no flags, so this repeats the rule of `explainInvalidItemName`; a test compares the two. */
export const itemNamePattern = new RegExp(
  "^(?!(?:__proto__|constructor|prototype)$)" +
    `(?!(?:${[...devices, ...numberedDevices].join("|")})(?:\\..*)?$)(?!.*\\.$)` +
    "[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$",
);

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

const label = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
// A last label that is a number would make the name an IP address.
const hostName = `(?=[^:]{1,255}(?::|$))(?:\\*\\.)?(?:${label}\\.)*(?!(?:[0-9]+|0[xX][0-9A-Fa-f]*)(?::|$))${label}`;
const octet = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
const ipv4 = `${octet}(?:\\.${octet}){3}`;
const hex = "[0-9A-Fa-f]{1,4}";
const lastHexes = `(?:${hex}:${hex}|${ipv4})`;
const before = (most: number) => `(?:(?:${hex}:){0,${most}}${hex})?`;
const ipv6 = [
  `(?:${hex}:){6}${lastHexes}`,
  `::(?:${hex}:){5}${lastHexes}`,
  ...[0, 1, 2, 3].map((most) => `${before(most)}::(?:${hex}:){${4 - most}}${lastHexes}`),
  `${before(4)}::${lastHexes}`,
  `${before(5)}::${hex}`,
  `${before(6)}::`,
].join("|");
const port = "(?::(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?";

/** Entries of `needs.network`, for which the host has code; a test compares the two. */
const host = new RegExp(`^(?:(?:${hostName}|${ipv4}|\\[(?:${ipv6})\\])${port}|${ipv6})$`);

/** Entries of a key of `needs`. */
function entries(key: NeedsKey, what: string) {
  return z
    .array(z.string().regex(key === "network" ? host : needsPatterns[key]))
    .optional()
    .meta({ description: what });
}

/** An absent key is not declared; an empty array means none. */
export const needs = z.object({
  env: entries(
    "env",
    "The environment variables that `envPassthrough` of the pack's servers names. Enforced: a server that names others does not start.",
  ),
  network: entries(
    "network",
    "The hosts that the pack connects to: names, also with a leading `*.`, IP addresses or `localhost`, each with an optional port. Not enforced.",
  ),
  read: entries(
    "read",
    "The files and folders that the pack reads, starting with `${PROJECT}`, `${PACK}`, `${DATA}`, `${HOME}` or `${TMP}`. Not enforced.",
  ),
  write: entries("write", "The files and folders that the pack writes, in the same form. Not enforced."),
  tools: entries(
    "tools",
    "The tools that the pack's code calls, besides its own and those that its definitions refer to: names, or patterns where `*` matches any part of a segment. Enforced: other calls fail.",
  ),
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
