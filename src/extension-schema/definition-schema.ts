// The single source of the shapes of definition files: validation checks with them, and JSON Schemas are generated from them.
// The small form of zod, because all of it takes longer to load than ten definitions to check.
import * as z from "zod/mini";
import { rule, says } from "./shape-faults.ts";
import type { DefinitionShape } from "./shapes.ts";
import {
  composedKeys,
  describe,
  name,
  npmName,
  optional,
  runKeys,
  text,
  toolAnnotations,
  version,
} from "./shared-schema.ts";
import { explainInvalidUri, parseUriTemplate } from "./uri-template.ts";

const orElse = (hint: string) => ({ error: says("", hint) });

const references = z
  .array(name, orElse("Write an array of references: `[createIssue]`."))
  .register(z.globalRegistry, { title: "array of references" });
const jsonObject = z.record(z.string(), z.unknown());
const stringsByName = z
  .record(z.string(), z.string())
  .register(z.globalRegistry, { title: "object of strings by name" });
const jsonSchema = z.record(z.string(), z.unknown()).register(z.globalRegistry, { title: "JSON Schema" });

/** `./module.js#export`, or a function of a code definition as inspection shows it. */
const codeForms = [name, z.object({ $function: describe(z.string(), "The name of the function.") })] as const;
const code = z
  .union(
    codeForms,
    orElse("Write a module and its export, relative to the package root: `./lib/tools.js#createIssue`."),
  )
  .register(z.globalRegistry, { title: "`./module.js#export`; in code definitions also a function" });

const parameter = z.looseObject(
  {
    required: optional(
      z.boolean(orElse("Write `required: true`, or remove it.")),
      "Whether the argument is required. Default: false.",
    ),
  },
  orElse("Write a schema: `{ type: string }`."),
);

const optionsHint = orElse("Write an object of options by name: `maxResults: { default: 50 }`.");

const tool = () =>
  z.object({
    name: describe(name, "The advertised name, which models see: 1 to 64 characters of `A-Za-z0-9_-`."),
    title: optional(text, "A display name."),
    description: optional(text, "What the tool does and when to use it."),
    inputSchema: optional(jsonSchema, "The JSON Schema of the arguments, unless they are in `parameters`."),
    parameters: optional(
      z.record(
        z.string(),
        parameter,
        orElse("Write an object of schemas by name: `parameters: { city: { type: string } }`."),
      ),
      "Short form of the arguments. Add `required: true` to the required ones.",
      "object of JSON Schemas by name",
    ),
    outputSchema: optional(jsonSchema, "The JSON Schema of `structuredContent`, which results must match."),
    annotations: optional(toolAnnotations(), "MCP's hints about the tool's behavior."),
    _meta: optional(jsonObject, "Additional metadata. The host reads the keys below."),
    handler: describe(code, "The function that handles calls."),
    initialize: optional(code, "The function that runs once per process, before the first call."),
    options: optional(
      z.record(
        z.string(),
        z.looseObject(
          {
            default: optional(z.unknown(), "The value without one of the user."),
            description: optional(text, "The purpose of the option."),
          },
          optionsHint,
        ),
        optionsHint,
      ),
      "Options that users can set in their config.",
      "object of `{ default, description }` by name",
    ),
  });

const serverNames = {
  name: optional(name, "The name sent to clients. Default: the item's name."),
  version,
  mcpServerName: optional(name, "The server's key in client configs. Default: the item's name."),
};

const composedServer = () =>
  z.object({
    ...serverNames,
    description: optional(text, "The purpose of the server."),
    ...composedKeys(references),
    initialize: optional(code, "The function that runs once when the server starts, before the tools' own."),
  });

const subprocessServer = () =>
  z.object({
    ...serverNames,
    description: optional(text, "The purpose of the server."),
    command: optional(name, "The program to run. Either this, `script` or `package` is required."),
    script: optional(name, "A script inside the package, which runs with the host's Node."),
    package: optional(npmName, "The npm name of a dependency that is an MCP server."),
    args: optional(z.array(z.string()), "The arguments, passed as written."),
    cwd: optional(name, "The working folder, inside the package. Default: the package root."),
    env: optional(stringsByName, "Environment variables to set."),
    envPassthrough: optional(z.array(name), "Names of environment variables to pass through from the host."),
    ...runKeys(),
  });

/** A valid definition of a subprocess server. */
export type SubprocessServer = z.output<ReturnType<typeof subprocessServer>>;

const metadata = describe(
  z.looseObject({ name: describe(name, "The item's name.") }),
  "The item's name.",
  "`{ name }`",
);

const serverDocument = () =>
  z.object({
    kind: describe(z.enum(["Mcp.StdioServer", "Mcp.HttpEndpoint"]), "The transport."),
    metadata,
    serverInfo: optional(
      z.looseObject({ name: serverNames.name, version: serverNames.version }),
      "The name and version sent to clients. Defaults: the item's name, the package's version.",
      "`{ name, version }`",
    ),
    instructions: optional(text, "Instructions for models on how to use the server."),
    mcpServerName: serverNames.mcpServerName,
    tools: describe(references, "The bundles to serve."),
  });

const toolsetList = () =>
  z.object({
    name: describe(name, "The item's name."),
    description: optional(text, "What the tools have in common."),
    tools: optional(references, "The tools of the toolset."),
    toolsets: optional(references, "Toolsets whose tools it includes."),
  });

const bundleEntry = () =>
  z.object({
    name: describe(name, "The advertised name."),
    title: optional(text, "A display name."),
    description: optional(text, "What the tool does and when to use it."),
    argumentsSchema: optional(jsonSchema, "The JSON Schema of the arguments."),
    outputSchema: optional(jsonSchema, "The JSON Schema of `structuredContent`."),
    annotations: optional(toolAnnotations(), "MCP's hints about the tool's behavior."),
    _meta: optional(jsonObject, "Additional metadata, as in a tool."),
    handler: describe(
      code,
      "The function that handles calls.",
      "reference to a tool, or `./module.js#export`",
    ),
    inputs: optional(z.unknown(), "The handler's input, computed from `request`. Default: the arguments."),
    result: optional(z.unknown(), "The whole result, computed from `result`. Default: as for a tool."),
    catches: optional(
      z.array(
        z.object({
          code: optional(z.union([z.string(), z.number()]), "The `code` of the thrown error."),
          when: optional(z.string(), "CEL condition on `error`."),
          error: describe(
            z.looseObject({
              code: describe(z.union([z.number(), z.string()]), "The code of the JSON-RPC error."),
            }),
            "The JSON-RPC error that the client gets.",
          ),
        }),
      ),
      "JSON-RPC errors for exceptions of the handler. The first match applies.",
      "array of `{ code, when, error }`",
    ),
  });

const toolsBundle = () =>
  z.object({
    kind: describe(z.literal("Mcp.Tools"), "Marks the toolset as a bundle."),
    metadata,
    description: optional(text, "What the tools have in common."),
    entries: describe(z.array(bundleEntry()), "The tools of the bundle.", "array of entries"),
  });

/** `complete` of a prompt or a template. The host checks that the names are declared. */
const complete = (of: string) =>
  optional(
    z.record(
      z.string(),
      z.union(
        [z.array(text), ...codeForms],
        orElse("Write an array of strings, or a module and its export: `./lib/docs.js#completePage`."),
      ),
    ),
    `Suggestions for the values of ${of}. An array is filtered by what the user has typed.`,
    "object of arrays of strings, or `./module.js#export`, by name",
  );

const messageHint = "Write messages as `{ role: user, content: Hello }`. MCP has no system role.";

const block = <Shape extends z.core.$ZodLooseShape>(type: string, shape: Shape) =>
  z.looseObject({ type: describe(z.literal(type), "The type of the content block."), ...shape });
const ofBlock = describe(text, "As in MCP's content block of this type.");

/** MCP's content blocks. Clients reject a whole prompt because of one of unknown type. */
const contentBlock = z.discriminatedUnion(
  "type",
  [
    block("text", { text: ofBlock }),
    block("image", { data: ofBlock, mimeType: ofBlock }),
    block("audio", { data: ofBlock, mimeType: ofBlock }),
    block("resource_link", { uri: ofBlock, name: ofBlock }),
    block("resource", {
      resource: describe(
        z
          .looseObject({ uri: ofBlock, text: z.optional(ofBlock), blob: z.optional(ofBlock) })
          .check(
            rule((one) =>
              (one.text ?? one.blob) === undefined ? "has neither `text` nor `blob`" : undefined,
            ),
          ),
        "The resource: its URI, and its text or its bytes in base64.",
      ),
    }),
  ],
  { error: says("one of `text`, `image`, `audio`, `resource_link` or `resource`", messageHint) },
);

const message = () =>
  z.looseObject(
    {
      role: describe(z.enum(["user", "assistant"], orElse(messageHint)), "The author of the message."),
      content: describe(
        z.union([text, contentBlock], {
          error: says("a string or one content block with a `type`", messageHint),
        }),
        "A string, or an MCP content block.",
      ),
    },
    orElse(messageHint),
  );

const argumentHint = orElse("Write an array of arguments: `arguments: [{ name: city, required: true }]`.");

const prompt = () =>
  z.object({
    name: describe(name, "The item's name."),
    title: optional(text, "A display name."),
    description: optional(text, "The purpose of the prompt."),
    arguments: optional(
      z.array(
        z.looseObject(
          {
            name: describe(name, "The name of the argument."),
            title: optional(z.unknown(), "A display name."),
            description: optional(text, "The description shown to the user."),
            required: optional(z.boolean(), "Whether the argument is required. Default: false."),
          },
          argumentHint,
        ),
        argumentHint,
      ),
      "Strings that the user provides.",
      "array of `{ name, description, required }`",
    ),
    content: optional(
      z.union([text, z.array(message())], {
        error: says("a string or an array of messages", messageHint),
      }),
      "The text or messages, with `{{argument}}` placeholders. Either this or `handler` is required.",
      "string, or array of MCP messages",
    ),
    handler: optional(code, "The function that returns a string or `{ messages }` for the arguments."),
    complete: complete("arguments"),
  });

const uri = name.check(
  rule((written) => {
    const words = explainInvalidUri(written);
    if (words === undefined) return undefined;
    return { words, hint: /[{}]/.test(written) ? "Did you mean `uriTemplate`?" : undefined };
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
    name: describe(name, "The item's name."),
    uri: optional(uri, "The URI. Either this or `uriTemplate` is required."),
    uriTemplate: optional(
      uriTemplate,
      "A URI with places for variables, as in `docs://{page}`: level 1 of RFC 6570. A variable never matches a `/`.",
    ),
    title: optional(text, "A display name."),
    description: optional(text, "What the resource contains."),
    mimeType: optional(text, "The media type of the contents, such as `text/markdown`."),
    annotations: optional(
      z.looseObject({
        audience: optional(z.array(z.enum(["user", "assistant"])), "Who the resource is for."),
        priority: optional(z.number().check(z.minimum(0), z.maximum(1)), "From 0, optional, to 1, required."),
        lastModified: optional(
          z.iso.datetime({ offset: true, error: "is not a date and time with a time zone" }),
          "When it was last changed, such as `2026-01-31T12:00:00Z`.",
        ),
      }),
      "MCP's hints about the resource: `user` or `assistant`, from 0 to 1, and a date and time.",
      "`{ audience, priority, lastModified }`",
    ),
    _meta: optional(jsonObject, "Additional metadata for clients."),
    text: optional(text, "The contents. Either this, `file` or `handler` is required."),
    file: optional(name, "A file inside the package, from its root, of at most 10 MiB."),
    handler: optional(code, "The function that returns a string, bytes or `{ contents }`."),
    subscribe: optional(code, "The function that watches the resource and says when it has changed."),
    complete: complete("the template's variables"),
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

const built = new Map<DefinitionShape, z.ZodMiniObject>();

/** The schema of a shape, built when it is first used: building all takes longer than to check ten definitions. */
export function schemaOf(shape: DefinitionShape): z.ZodMiniObject {
  const schema = built.get(shape) ?? definitionShapes[shape]();
  built.set(shape, schema);
  return schema;
}

export { bundleEntry };
