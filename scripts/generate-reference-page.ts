// Generates docs/reference.md from the schemas. A test compares it; `npx vitest run test/docs/reference -u` updates it.
import { z } from "zod";
import { bundleEntry, definitionShapes } from "../src/extension-schema/definition-schema.ts";
import { expectedOf, isMetaKey, metaKeys } from "../src/extension-schema/meta-keys.ts";
import { declarationObjects, extension, needs } from "../src/extension-schema/schema.ts";

type JsonSchema = Record<string, unknown>;

const code = (text: string) => `\`${text}\``;

/** A vertical bar would end the cell. */
const cell = (text: string) => text.replaceAll("|", "\\|");

const plural: Readonly<Record<string, string>> = { string: "strings", object: "objects" };

/** The type of a value: the schema's title if it has one. */
function describeType({ title, enum: values, const: value, anyOf, type, items }: JsonSchema): string {
  if (typeof title === "string") return title;
  if (Array.isArray(values)) return values.map((one) => code(String(one))).join(" or ");
  if (value !== undefined) return code(String(value));
  if (Array.isArray(anyOf)) return [...new Set(anyOf.map(describeType))].join(", or ");
  if (type !== "array") return typeof type === "string" ? type : "any value";
  const entry = describeType((items ?? {}) as JsonSchema);
  return `array of ${plural[entry] ?? entry}`;
}

interface Row {
  key: string;
  type: string;
  isNeeded: boolean;
  description: string;
}

function readRows(shape: z.core.$ZodObject, leaveOut: readonly string[] = []): Row[] {
  const { properties = {}, required = [] } = z.toJSONSchema(shape, { io: "input" });
  return Object.entries(properties as Record<string, JsonSchema>)
    .filter(([key]) => !leaveOut.includes(key))
    .map(([key, schema]) => {
      const { description } = schema;
      if (typeof description !== "string") throw new Error(`The schema does not say what ${key} is for.`);
      return { key, type: describeType(schema), isNeeded: required.includes(key), description };
    });
}

function formatTable(shape: z.core.$ZodObject, leaveOut: readonly string[] = []): string {
  const rows = readRows(shape, leaveOut).map(
    ({ key, type, isNeeded, description }) =>
      `| ${code(key)} | ${isNeeded ? "yes" : ""} | ${cell(type)} | ${cell(description)} |`,
  );
  return ["| key | required | value | meaning |", "|---|---|---|---|", ...rows].join("\n");
}

function formatField(): string {
  const { properties = {} } = z.toJSONSchema(extension, { io: "input" });
  const rows = Object.entries(properties as Record<string, JsonSchema>).map(
    ([key, { type, description, default: fallback }]) => {
      const value = type === "array" ? "array of declarations" : describeType({ type });
      return `| ${code(key)} | ${value} | ${fallback === undefined ? "none" : code(String(fallback))} | ${description} |`;
    },
  );
  return ["| key | value | default | meaning |", "|---|---|---|---|", ...rows].join("\n");
}

function formatDeclarations(): string {
  const rows = Object.entries(declarationObjects).flatMap(([kind, shape]) =>
    readRows(shape, ["name", "description"]).map(
      ({ key, description }) => `| ${kind} | ${code(key)} | ${description} |`,
    ),
  );
  return ["| kind | key | meaning |", "|---|---|---|", ...rows].join("\n");
}

function formatMetaKeys(): string {
  const rows = Object.entries(metaKeys).map(([key, { fallback, description }]) => {
    const expected = isMetaKey(key) ? expectedOf(key) : "";
    return `| ${code(key)} | ${expected} | ${fallback} | ${description} |`;
  });
  return ["| key | value | default | meaning |", "|---|---|---|---|", ...rows].join("\n");
}

/** The page about the field, definitions and metadata. */
export function generateReferencePage(): string {
  const {
    tool,
    composedServer,
    subprocessServer,
    serverDocument,
    toolsetList,
    toolsBundle,
    prompt,
    resource,
  } = definitionShapes;
  return `# The field, definitions and metadata

This page lists every key of a pack. It is generated from the schemas that \`validate\` uses. For examples, see
[Writing a pack](guides/writing-a-pack.md). Keys that start with \`x-\` are for your own use everywhere.

## The \`trailblaze\` field of package.json

${formatField()}

A declaration is a name, an array of a name and a description, or an object with \`name\`, \`description\` and these keys:

${formatDeclarations()}

A name has 1 to 64 characters from \`A-Z\`, \`a-z\`, \`0-9\`, \`_\`, \`.\` and \`-\`, and starts with a letter or digit.

These are the keys of \`needs\`, which are all optional. \`[]\` means none; an absent key is not declared. A folder includes everything
in it. [Writing a pack](guides/writing-a-pack.md#declare-what-the-pack-needs) has an example.

${formatTable(needs)}

The field's JSON Schema is exported as \`trailblaze/schema.json\`, and those of definitions as
\`trailblaze/schemas/tool.json\`, \`server.json\`, \`toolset.json\`, \`prompt.json\` and
\`resource.json\`. A definition may name its schema in \`$schema\` for [editors](guides/editors.md); the key is ignored. The host also
reads these keys of package.json:

| key | value | meaning |
|---|---|---|
| \`engines.trailblaze\` | semver range | host versions that the pack works with; others list the pack and exclude it from sessions |
| \`keywords\` | contains \`trailblaze-extension\` | lets \`trailblaze search\` find the pack |

## A tool

${formatTable(tool)}

### \`_meta\`

The host reads these keys. It ignores values of the wrong type ([InvalidMetaValue](problems.md#invalidmetavalue)). Other keys that
start with \`trailblaze/\` are reported ([UnknownMetaKey](problems.md#unknownmetakey)). Keys of other vendors are free.

${formatMetaKeys()}

## A server

A definition has one of three forms.

### Composed server: served by the host

${formatTable(composedServer)}

### Subprocess server: a standard MCP server

${formatTable(subprocessServer)}

### Document: a server for bundles

${formatTable(serverDocument)}

## A toolset

### A list

${formatTable(toolsetList)}

### A bundle

${formatTable(toolsBundle)}

These are the keys of an entry. [Bundles](guides/bundles.md) explains \`\${{ … }}\`.

${formatTable(bundleEntry())}

## A prompt

${formatTable(prompt)}

## A resource

${formatTable(resource)}

A resource has either \`uri\` or \`uriTemplate\`, and one of \`text\`, \`file\` and \`handler\`. [Writing a pack](guides/writing-a-pack.md#resources)
has examples.
`;
}
