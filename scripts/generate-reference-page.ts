// Makes docs/reference.md from the schemas. A test compares it; `npx vitest run test/docs/reference -u` writes it.
import { z } from "zod";
import { bundleEntry, definitionShapes } from "../src/extension-schema/definition-schema.ts";
import { expectedOf, isMetaKey, metaKeys } from "../src/extension-schema/meta-keys.ts";
import { declarationObjects, extension } from "../src/extension-schema/schema.ts";

type JsonSchema = Record<string, unknown>;

const code = (text: string) => `\`${text}\``;

/** A bar would end the cell. */
const cell = (text: string) => text.replaceAll("|", "\\|");

const plain: Readonly<Record<string, string>> = {
  string: "text",
  boolean: "true or false",
  integer: "whole number",
  number: "number",
  object: "map",
};

const plural: Readonly<Record<string, string>> = { text: "texts", map: "maps" };

/** What a value must be, in words: the schema's title where it has one. */
function describeType({ title, enum: values, const: value, anyOf, type, items }: JsonSchema): string {
  if (typeof title === "string") return title;
  if (Array.isArray(values)) return values.map((one) => code(String(one))).join(" or ");
  if (value !== undefined) return code(String(value));
  if (Array.isArray(anyOf)) return [...new Set(anyOf.map(describeType))].join(", or ");
  if (type !== "array") return plain[String(type)] ?? "anything";
  const entry = describeType((items ?? {}) as JsonSchema);
  return `list of ${plural[entry] ?? entry}`;
}

interface Row {
  key: string;
  type: string;
  isNeeded: boolean;
  description: string;
}

function readRows(shape: z.ZodObject, leaveOut: readonly string[] = []): Row[] {
  const { properties = {}, required = [] } = z.toJSONSchema(shape, { io: "input" });
  return Object.entries(properties as Record<string, JsonSchema>)
    .filter(([key]) => !leaveOut.includes(key))
    .map(([key, schema]) => {
      const { description } = schema;
      if (typeof description !== "string") throw new Error(`The schema does not say what ${key} is for.`);
      return { key, type: describeType(schema), isNeeded: required.includes(key), description };
    });
}

function formatTable(shape: z.ZodObject, leaveOut: readonly string[] = []): string {
  const rows = readRows(shape, leaveOut).map(
    ({ key, type, isNeeded, description }) =>
      `| ${code(key)} | ${isNeeded ? "yes" : ""} | ${cell(type)} | ${cell(description)} |`,
  );
  return ["| key | needed | value | |", "|---|---|---|---|", ...rows].join("\n");
}

function formatField(): string {
  const { properties = {} } = z.toJSONSchema(extension, { io: "input" });
  const rows = Object.entries(properties as Record<string, JsonSchema>).map(
    ([key, { type, description, default: fallback }]) => {
      const value = type === "array" ? "list of declarations" : describeType({ type });
      return `| ${code(key)} | ${value} | ${fallback === undefined ? "none" : code(String(fallback))} | ${description} |`;
    },
  );
  return ["| key | value | default | |", "|---|---|---|---|", ...rows].join("\n");
}

function formatDeclarations(): string {
  const rows = Object.entries(declarationObjects).flatMap(([kind, shape]) =>
    readRows(shape, ["name", "description"]).map(
      ({ key, description }) => `| ${kind} | ${code(key)} | ${description} |`,
    ),
  );
  return ["| kind | key | |", "|---|---|---|", ...rows].join("\n");
}

function formatMetaKeys(): string {
  const rows = Object.entries(metaKeys).map(([key, { fallback, description }]) => {
    const expected = isMetaKey(key) ? expectedOf(key) : "";
    return `| ${code(key)} | ${expected} | ${fallback} | ${description} |`;
  });
  return ["| key | value | default | |", "|---|---|---|---|", ...rows].join("\n");
}

/** The page about the field, definitions and metadata. */
export function generateReferencePage(): string {
  const { tool, composedServer, subprocessServer, serverDocument, toolsetList, toolsBundle, prompt } =
    definitionShapes;
  return `# The field, definitions and metadata

Every key there is, made from the schemas that packs are checked against. [Writing a pack](guides/writing-a-pack.md) shows them
at work. Keys that begin with \`x-\` are free everywhere.

## The \`trailblaze\` field of package.json

${formatField()}

A declaration is a name, a list of a name and a description, or a map with \`name\`, \`description\` and these keys:

${formatDeclarations()}

A name has 1 to 64 of \`A-Z\`, \`a-z\`, \`0-9\`, \`_\`, \`.\` and \`-\`, and begins with a letter or digit.

The field's JSON Schema is exported as \`trailblaze/schema.json\`. Beside the field, the host reads in package.json:

| key | value | |
|---|---|---|
| \`engines.trailblaze\` | semver range | hosts that the pack works with; others list it and leave it out of sessions |
| \`keywords\` | with \`trailblaze-extension\` | makes \`trailblaze search\` find the pack |

## A tool

${formatTable(tool)}

### \`_meta\`

What the host reads there. A value of the wrong type counts as absent ([InvalidMetaValue](problems/InvalidMetaValue.md)); another key
that begins with \`trailblaze/\` is a mistake ([UnknownMetaKey](problems/UnknownMetaKey.md)); keys of other vendors are free.

${formatMetaKeys()}

## A server

A definition has one of three shapes.

### Composed: the host serves it

${formatTable(composedServer)}

### Subprocess: a standard MCP server

${formatTable(subprocessServer)}

### Document: serves bundles

${formatTable(serverDocument)}

## A toolset

### A list

${formatTable(toolsetList)}

### A bundle

${formatTable(toolsBundle)}

Each entry ([Bundles](guides/bundles.md) says what \`\${{ … }}\` may hold):

${formatTable(bundleEntry)}

## A prompt

${formatTable(prompt)}
`;
}
