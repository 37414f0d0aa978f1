// The single source of the shapes of definition files: validation checks with them, and JSON Schemas are generated from them.
// The small form of zod, because all of it takes longer to load than ten definitions to check.
import * as z from "zod/mini";
import { memoize } from "../data/memoize.ts";
import { rule, says } from "./shape-faults.ts";
import type { DefinitionShape } from "./shapes.ts";
import { composedKeys, name, npmName, runKeys, text, toolAnnotations } from "./shared-schema.ts";
import { explainInvalidUri, parseUriTemplate } from "./uri-template.ts";

const orElse = (hint: string) => ({ error: says("", hint) });

const references = z
  .array(name, orElse("Write an array of references: `[createIssue]`."))
  .register(z.globalRegistry, { title: "array of references" });
const jsonObject = z.record(z.string(), z.unknown());
const jsonSchema = z.record(z.string(), z.unknown()).register(z.globalRegistry, { title: "JSON Schema" });

/** `./module.js#export`, or a function of a code definition as inspection shows it. */
const codeForms = [name, z.object({ $function: z.string() })] as const;
const code = z
  .union(
    codeForms,
    orElse("Write a module and its export, relative to the package root: `./lib/tools.js#createIssue`."),
  )
  .register(z.globalRegistry, { title: "`./module.js#export`; in code definitions also a function" });

const parameter = z
  .looseObject(
    { required: z.optional(z.boolean(orElse("Write `required: true`, or remove it."))) },
    orElse("Write a schema: `{ type: string }`."),
  )
  .register(z.globalRegistry, { title: "JSON Schema" });

const optionsHint = orElse("Write an object of options by name: `maxResults: { default: 50 }`.");

const tool = () =>
  z.object({
    name,
    title: z.optional(text),
    description: z.optional(text),
    inputSchema: z.optional(jsonSchema),
    parameters: z.optional(
      z.record(
        z.string(),
        parameter,
        orElse("Write an object of schemas by name: `parameters: { city: { type: string } }`."),
      ),
    ),
    outputSchema: z.optional(jsonSchema),
    annotations: z.optional(toolAnnotations()),
    _meta: z.optional(jsonObject),
    handler: code,
    initialize: z.optional(code),
    options: z.optional(
      z.record(
        z.string(),
        z.looseObject({ default: z.optional(z.unknown()), description: z.optional(text) }, optionsHint),
        optionsHint,
      ),
    ),
  });

const serverNames = {
  name: z.optional(name),
  version: z.optional(name),
  mcpServerName: z.optional(name),
  description: z.optional(text),
};

const composedServer = () =>
  z.object({
    ...serverNames,
    ...composedKeys(references),
    initialize: z.optional(code),
  });

const subprocessServer = () =>
  z.object({
    ...serverNames,
    command: z.optional(name),
    script: z.optional(name),
    package: z.optional(npmName),
    args: z.optional(z.array(z.string())),
    cwd: z.optional(name),
    env: z.optional(z.record(z.string(), z.string())),
    envPassthrough: z.optional(z.array(name)),
    ...runKeys(),
  });

/** A valid definition of a subprocess server. */
export type SubprocessServer = z.output<ReturnType<typeof subprocessServer>>;

const metadata = z.looseObject({ name });

const serverDocument = () =>
  z.object({
    kind: z.enum(["Mcp.StdioServer", "Mcp.HttpEndpoint"]),
    metadata,
    serverInfo: z.optional(z.looseObject({ name: serverNames.name, version: serverNames.version })),
    instructions: z.optional(text),
    mcpServerName: serverNames.mcpServerName,
    tools: references,
  });

const toolsetList = () =>
  z.object({
    name,
    description: z.optional(text),
    tools: z.optional(references),
    toolsets: z.optional(references),
  });

export const bundleEntry = () =>
  z.object({
    name,
    title: z.optional(text),
    description: z.optional(text),
    argumentsSchema: z.optional(jsonSchema),
    outputSchema: z.optional(jsonSchema),
    annotations: z.optional(toolAnnotations()),
    _meta: z.optional(jsonObject),
    handler: code,
    inputs: z.optional(z.unknown()),
    result: z.optional(z.unknown()),
    catches: z.optional(
      z.array(
        z.object({
          code: z.optional(z.union([z.string(), z.number()])),
          when: z.optional(z.string()),
          error: z.looseObject({ code: z.union([z.number(), z.string()]) }),
        }),
      ),
    ),
  });

const toolsBundle = () =>
  z.object({
    kind: z.literal("Mcp.Tools"),
    metadata,
    description: z.optional(text),
    entries: z.array(bundleEntry()),
  });

/** `complete` of a prompt or a template. The host checks that the names are declared. */
const complete = z
  .record(
    z.string(),
    z.union(
      [z.array(text), ...codeForms],
      orElse("Write an array of strings, or a module and its export: `./lib/docs.js#completePage`."),
    ),
  )
  .register(z.globalRegistry, {
    title: "object of arrays of strings, or `./module.js#export`, by name",
  });

const messageHint = "Write messages as `{ role: user, content: Hello }`. MCP has no system role.";

const block = <Shape extends z.core.$ZodLooseShape>(type: string, shape: Shape) =>
  z.looseObject({ type: z.literal(type), ...shape });

/** MCP's content blocks. Clients reject a whole prompt because of one of unknown type. */
const contentBlock = z.discriminatedUnion(
  "type",
  [
    block("text", { text: text }),
    block("image", { data: text, mimeType: text }),
    block("audio", { data: text, mimeType: text }),
    block("resource_link", { uri: text, name: text }),
    block("resource", {
      resource: z
        .looseObject({ uri: text, text: z.optional(text), blob: z.optional(text) })
        .check(
          rule((one) => ((one.text ?? one.blob) === undefined ? "has neither `text` nor `blob`" : undefined)),
        ),
    }),
  ],
  { error: says("one of `text`, `image`, `audio`, `resource_link` or `resource`", messageHint) },
);

const message = () =>
  z.looseObject(
    {
      role: z.enum(["user", "assistant"], orElse(messageHint)),
      content: z.union([text, contentBlock], {
        error: says("a string or one content block with a `type`", messageHint),
      }),
    },
    orElse(messageHint),
  );

const argumentHint = orElse("Write an array of arguments: `arguments: [{ name: city, required: true }]`.");

const prompt = () =>
  z.object({
    name,
    title: z.optional(text),
    description: z.optional(text),
    arguments: z.optional(
      z.array(
        z.looseObject(
          {
            name,
            title: z.optional(z.unknown()),
            description: z.optional(text),
            required: z.optional(z.boolean()),
          },
          argumentHint,
        ),
        argumentHint,
      ),
    ),
    content: z.optional(
      z.union([text, z.array(message())], {
        error: says("a string or an array of messages", messageHint),
      }),
    ),
    handler: z.optional(code),
    complete: z.optional(complete),
  });

const uri = name.check(
  rule((written) => {
    const words = explainInvalidUri(written);
    return words && { words, hint: /[{}]/.test(written) ? "Did you mean `uriTemplate`?" : undefined };
  }),
);

const uriTemplate = name.check(
  rule((written) => {
    const template = parseUriTemplate(written);
    return "fault" in template ? template.fault : undefined;
  }),
);

const resource = () =>
  z.object({
    name,
    uri: z.optional(uri),
    uriTemplate: z.optional(uriTemplate),
    title: z.optional(text),
    description: z.optional(text),
    mimeType: z.optional(text),
    annotations: z.optional(
      z.looseObject({
        audience: z.optional(z.array(z.enum(["user", "assistant"]))),
        priority: z.optional(z.number().check(z.minimum(0), z.maximum(1))),
        lastModified: z.optional(
          z.iso.datetime({ offset: true, error: "is not a date and time with a time zone" }),
        ),
      }),
    ),
    _meta: z.optional(jsonObject),
    text: z.optional(text),
    file: z.optional(name),
    handler: z.optional(code),
    subscribe: z.optional(code),
    complete: z.optional(complete),
  });

export const definitionShapes = {
  tool,
  composedServer,
  subprocessServer,
  serverDocument,
  toolsetList,
  toolsBundle,
  prompt,
  resource,
} satisfies Record<DefinitionShape, () => z.ZodMiniObject>;

/** The schema of a shape, built when it is first used: building all takes longer than to check ten definitions. */
export const schemaOf = memoize((shape: DefinitionShape): z.ZodMiniObject => definitionShapes[shape]());
