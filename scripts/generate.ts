// Generates what is derived from the schemas and committed: the exported JSON Schemas and the type of the config.
// `npm run generate` writes the files; tests compare them with the output.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as z from "zod/mini";
import { formatSchemaType } from "../src/author/generate-types.ts";
import { config } from "../src/config/config-schema.ts";
import { definitionShapes } from "../src/extension-schema/definition-schema.ts";
import { metaKeys, type metaTypes, platforms } from "../src/extension-schema/meta-keys.ts";
import { type DefinitionShape, marksOf, shapes, shapesOf } from "../src/extension-schema/shapes.ts";
import { type DefinedKind, definedKinds } from "../src/kinds.ts";
import { addWords, findKeys, type JsonSchema, readWords } from "./words.ts";

const reference = "reference.md";
const guide = "guides/configuration.md";

/** Closes every object with named properties, except for `x-` keys, unless the schema says that it is open. */
function closeObjects({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  if (
    jsonSchema.type === "object" &&
    jsonSchema.properties !== undefined &&
    jsonSchema.additionalProperties === undefined
  ) {
    jsonSchema.patternProperties = { "^x-": {} };
    jsonSchema.additionalProperties = false;
  }
}

const toJson = (schema: unknown) => `${JSON.stringify(schema, null, 2)}\n`;

/** A schema that also accepts null, which YAML has for a key without a value. */
function orNull(schema: JsonSchema): JsonSchema {
  const { type, ...rest } = schema;
  if (Array.isArray(rest.enum)) return { ...rest, enum: [...rest.enum, null] };
  if (Array.isArray(rest.anyOf)) return { ...rest, anyOf: [...rest.anyOf, { type: "null" }] };
  return { ...rest, type: [type, "null"] };
}

/** Allows null for the optional keys of closed objects. */
function allowNulls(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(allowNulls);
  if (typeof node !== "object" || node === null) return node;
  const schema = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, allowNulls(value)]));
  if (schema.additionalProperties !== false) return schema;
  const required = (schema.required ?? []) as string[];
  const properties = Object.entries(schema.properties as Record<string, JsonSchema>);
  const optional = ([key, value]: [string, JsonSchema]) => [
    key,
    required.includes(key) ? value : orNull(value),
  ];
  return { ...schema, properties: Object.fromEntries(properties.map(optional)) };
}

/** The config with the shape of its tools, which are checked as definitions. */
const modulePath = z.string().check(z.regex(/^\.\/./));
const builtIn = z
  .looseObject({
    ...definitionShapes.tool().shape,
    name: z.string().check(z.regex(/^[A-Za-z0-9_-]{1,64}$/)),
    handler: modulePath,
    initialize: z.optional(modulePath),
  })
  .register(z.globalRegistry, {
    oneOf: ["inputSchema", "parameters"].map((key) => ({ properties: { [key]: {} }, required: [key] })),
  });

/** What the pages say of the keys of a config. Of two words for a key, the last count. */
function* readConfigWords(): Generator<[string, string]> {
  yield* readWords(guide, "config");
  yield* readWords(reference, "composedServer", "servers.*.");
  yield* readWords(reference, "tool", "builtIns[].");
  for (const server of ["trailblazeSubprocessToolsets[].", "mcpServers.*."]) {
    yield* readWords(guide, "config", server);
    yield* readWords(reference, "tool", `${server}tools.override.*.`);
    yield* readWords(guide, "server", server);
    yield* readWords("guides/sign-in.md", "oauth", `${server}oauth.`);
  }
}

/** The config with these schemas of its tools. */
function describeConfig(items: JsonSchema, override: (context: { jsonSchema: JsonSchema }) => void) {
  const schema = z.toJSONSchema(config, { io: "input", override });
  const { builtIns } = schema.properties as Record<string, JsonSchema>;
  const properties = { ...schema.properties, builtIns: { ...builtIns, items } };
  return addWords({ ...schema, properties }, readConfigWords());
}

function generateConfigSchema(): string {
  const { $schema: _, ...items } = z.toJSONSchema(builtIn, { io: "input", override: closeObjects });
  return toJson(allowNulls(describeConfig(items, closeObjects)));
}

/** The config as TypeScript, for hosts that pass it as an object: closed, with the descriptions as comments. */
function generateConfigType(): string {
  const override = (context: { jsonSchema: JsonSchema }) => {
    closeObjects(context);
    // A server's ways of being reached exclude each other, which `validate` says better than a union.
    delete context.jsonSchema.oneOf;
  };
  const schema = describeConfig({ type: "object" }, override);
  for (const { schema: key } of findKeys(schema))
    if (key.default !== undefined && typeof key.default !== "object")
      key.description = `${key.description} Default: \`${String(key.default)}\`.`;
  const type = formatSchemaType(schema, "", "readonly ");
  return [
    "// Generated by `npm run generate` from ../config-schema.ts. Do not edit.",
    "/** A config as an object: what trailblaze.config.yaml contains. Handlers of `builtIns` may be functions. */",
    `export interface TrailblazeConfig ${type}\n`,
  ].join("\n");
}

/** Removes functions: only code definitions have them. */
function omitFunctions({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  const forms = (jsonSchema.anyOf ?? []) as JsonSchema[];
  const isFunction = ({ properties }: JsonSchema) => Object.hasOwn(properties ?? {}, "$function");
  if (!forms.some(isFunction)) return;
  const others = forms.filter((form) => !isFunction(form));
  delete jsonSchema.anyOf;
  delete jsonSchema.title;
  Object.assign(jsonSchema, others.length === 1 ? others[0] : { anyOf: others });
}

const requires = (key: string): JsonSchema => ({ required: [key] });

/** The keys of a shape, and what `checkDefinition` requires of them: at least one, exactly one, or none. */
function describeShape(shape: DefinitionShape): JsonSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(definitionShapes[shape](), {
    target: "draft-7",
    io: "input",
    override: omitFunctions,
  });
  delete schema.additionalProperties;
  const ofEntries = ["tool", "bundleEntry"].flatMap((table) => readWords(reference, table, "entries[]."));
  addWords(schema, [...readWords(reference, shape), ...ofEntries]);
  const { kind, one, some } = shapes[shape];
  const others = shapesOf(kind).filter((other) => other !== shape);
  const none = others.flatMap(marksOf).filter((key) => !Object.hasOwn(schema.properties ?? {}, key));
  return {
    ...schema,
    ...(some === undefined ? {} : { anyOf: some.map(requires) }),
    ...(one === undefined ? {} : { oneOf: one.at(-1)?.map(requires) }),
    ...(none.length === 0 ? {} : { not: { anyOf: none.map(requires) } }),
    ...addedRules[shape]?.(schema),
  };
}

const schemasOfMeta: Readonly<Record<keyof typeof metaTypes, JsonSchema>> = {
  boolean: { type: "boolean" },
  string: { type: "string", pattern: "\\S" },
  strings: { type: "array", items: { type: "string", pattern: "\\S" } },
  platforms: {
    type: "array",
    // Editors complete only the values of an enum.
    items: { anyOf: [{ enum: [...platforms] }, { type: "string", pattern: `^(?:${anyCase(platforms)})$` }] },
  },
};

/** A pattern that matches words regardless of case, which patterns of JSON Schema cannot ignore. */
function anyCase(words: readonly string[]): string {
  return words.join("|").replace(/[A-Z]/g, (letter) => `[${letter}${letter.toLowerCase()}]`);
}

/** Adds to the schema of tools what checks require beyond the shape, so that editors show it. */
function addToolRules(schema: JsonSchema): JsonSchema {
  const properties = schema.properties as Record<string, JsonSchema>;
  const { name, handler, initialize, _meta } = properties;
  const modulePath = "^\\./[^#\\\\]+(?:#[^#]+)?$";
  const keys = Object.entries(metaKeys).map(([key, { type, description }]) => [
    key,
    { ...schemasOfMeta[type], description },
  ]);
  const rules = {
    name: { ...name, pattern: "^[A-Za-z0-9_-]{1,64}$" },
    _meta: { ..._meta, properties: Object.fromEntries(keys) },
    handler: { ...handler, pattern: modulePath },
    initialize: { ...initialize, pattern: modulePath },
  };
  return { properties: { ...properties, ...rules } };
}

/** What else editors show of a shape. */
const addedRules: Readonly<Partial<Record<DefinitionShape, (schema: JsonSchema) => JsonSchema>>> = {
  tool: addToolRules,
  subprocessServer: () => ({ dependencies: { bin: ["package"] } }),
  resource: () => ({
    anyOf: [
      { required: ["uri"], not: { anyOf: [requires("uriTemplate"), requires("complete")] } },
      { required: ["uriTemplate"], not: requires("uri") },
    ],
  }),
};

/**
 * The JSON Schema of a kind's definitions, for editors, in the draft that most of them support. It allows unknown keys, as
 * validation does.
 */
function generateDefinitionSchema(kind: DefinedKind): string {
  const [only, ...others] = shapesOf(kind).map(describeShape);
  return toJson({
    $schema: "http://json-schema.org/draft-07/schema#",
    title: `Definition of a ${kind}`,
    ...(others.length === 0 ? only : { type: "object", anyOf: [only, ...others] }),
  });
}

/** Every generated file: its path in the repository, and its contents. */
export function generateFiles(): Record<string, string> {
  return {
    ...Object.fromEntries(
      definedKinds.map((kind) => [`schemas/${kind}.json`, generateDefinitionSchema(kind)]),
    ),
    "schema/config.schema.json": generateConfigSchema(),
    "src/config/generated/config-type.ts": generateConfigType(),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, content] of Object.entries(generateFiles())) {
    writeFileSync(new URL(`../${path}`, import.meta.url), content);
    console.log(path);
  }
}
