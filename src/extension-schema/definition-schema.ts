// The single source of the shapes of definition files. Like schema.ts, it is read at build time only.
import { z } from "zod";

const text = z.string();
/** A string that is not blank. A pattern, because length checks would need a part of ajv at run time. */
const name = z.string().regex(/\S/);
const references = z.array(name).meta({ title: "array of references" });
const jsonObject = z.record(z.string(), z.unknown());
const jsonSchema = z.record(z.string(), z.unknown()).meta({ title: "JSON Schema" });

/** Adds a description, which editors and the reference show. */
const describe = <Schema extends z.ZodType>(schema: Schema, description: string): Schema =>
  schema.meta({ description });

/** `./module.js#export`, or a function of a code definition as inspection shows it. */
const code = z
  .union([name, z.object({ $function: describe(z.string(), "The name of the function.") })])
  .meta({ title: "`./module.js#export`; in code definitions also a function" });

const hint = (description: string) => describe(z.boolean(), description).optional();

const annotations = z.looseObject({
  title: describe(text, "A display name.").optional(),
  readOnlyHint: hint("The tool does not modify its environment."),
  destructiveHint: hint("The tool may overwrite or delete data."),
  idempotentHint: hint("Repeated calls with the same arguments have no additional effect."),
  openWorldHint: hint("The tool interacts with external systems, such as the web."),
});

const parameter = z.looseObject({
  required: describe(z.boolean(), "Whether the argument is required. Default: false.").optional(),
});

const tool = z.object({
  name: describe(name, "The advertised name, which models see: 1 to 64 characters of `A-Za-z0-9_-`."),
  title: describe(text, "A display name.").optional(),
  description: describe(text, "What the tool does and when to use it.").optional(),
  inputSchema: describe(
    jsonSchema,
    "The JSON Schema of the arguments. Either this or `parameters` is required.",
  ).optional(),
  parameters: z
    .record(z.string(), parameter)
    .meta({
      title: "object of JSON Schemas by name",
      description: "Short form of the arguments. Add `required: true` to the required ones.",
    })
    .optional(),
  outputSchema: describe(
    jsonSchema,
    "The JSON Schema of `structuredContent`. A result that violates it is an error.",
  ).optional(),
  annotations: describe(annotations, "MCP's hints about the tool's behavior.").optional(),
  _meta: describe(jsonObject, "Additional metadata. The host reads the keys below.").optional(),
  handler: describe(code, "The function that handles calls."),
  initialize: describe(
    code,
    "The function that runs once per process before the first call, and never while a pack is inspected or validated.",
  ).optional(),
  options: z
    .record(
      z.string(),
      z.looseObject({ description: describe(text, "The purpose of the option.").optional() }),
    )
    .meta({
      title: "object of `{ default, description }` by name",
      description: "Options that users can set in their config.",
    })
    .optional(),
});

const serverNames = {
  name: describe(name, "The name sent to clients. Default: the item's name.").optional(),
  version: describe(name, "The version sent to clients. Default: the package's version.").optional(),
  mcpServerName: describe(name, "The server's key in client configs. Default: the item's name.").optional(),
};

const composedServer = z.object({
  ...serverNames,
  description: describe(text, "The purpose of the server.").optional(),
  tools: describe(references, "The tools to serve.").optional(),
  toolsets: describe(references, "Toolsets whose tools are served after those of `tools`.").optional(),
  prompts: describe(references, "The prompts to serve.").optional(),
  resources: describe(references, "The resources to serve.").optional(),
  transport: describe(z.enum(["stdio", "http"]), "The transport. Default: `stdio`.").optional(),
  protocol: describe(
    z.enum(["both", "modern", "legacy"]),
    "The clients to serve: `modern` from revision 2026-07-28 of MCP on, `legacy` before it. Default: `both`.",
  ).optional(),
  initialize: describe(
    code,
    "The function that runs once when the server starts, before the tools' own.",
  ).optional(),
  instructions: describe(text, "Instructions for models on how to use the server.").optional(),
});

const subprocessServer = z.object({
  ...serverNames,
  description: describe(text, "The purpose of the server.").optional(),
  command: describe(name, "The program to run. Either this, `script` or `package` is required.").optional(),
  script: describe(name, "A script inside the package, which runs with the host's Node.").optional(),
  package: describe(name, "The npm name of a dependency that is an MCP server.").optional(),
  bin: describe(
    name,
    "The command of `package` to run. Default: its only command, or the one named like the package.",
  ).optional(),
  args: describe(z.array(z.string()), "The arguments, passed as written.").optional(),
  cwd: describe(name, "The working folder, inside the package. Default: the package root.").optional(),
  env: z
    .record(z.string(), z.string())
    .meta({ title: "object of strings by name", description: "Environment variables to set." })
    .optional(),
  envPassthrough: describe(
    z.array(name),
    "Names of environment variables to pass through from the host.",
  ).optional(),
  protocol: describe(
    z.enum(["auto", "legacy", "modern"]),
    "The revisions of MCP that the server speaks: `modern` from 2026-07-28 on, `legacy` before it. Default: `auto`, which asks the server.",
  ).optional(),
  context: describe(
    z.boolean(),
    "Whether the server gets the session's context: memory and device with each call, and the address for callbacks. Default: true, but false with `package`.",
  ).optional(),
  legacyContext: describe(
    z.boolean(),
    "Whether calls with the context include `_trailblazeContext` in their arguments. Default: true.",
  ).optional(),
  start: describe(
    z.enum(["eager", "lazy"]),
    "When sessions start it: `eager` when they open, `lazy` at the first call that needs it, if trailblaze.lock has its lists. Default: as the user's config says.",
  ).optional(),
  idleMs: describe(
    z.int().min(1).max(86_400_000),
    "Sessions end the server after this time without a call, in milliseconds; the next call starts it again. Default: as the user's config says.",
  ).optional(),
});

const metadata = z
  .looseObject({ name: describe(name, "The item's name.") })
  .meta({ title: "`{ name }`", description: "The item's name." });

const serverDocument = z.object({
  kind: describe(z.enum(["Mcp.StdioServer", "Mcp.HttpEndpoint"]), "The transport."),
  metadata,
  serverInfo: z
    .looseObject({
      name: describe(name, "The name sent to clients. Default: the item's name.").optional(),
      version: describe(name, "The version sent to clients. Default: the package's version.").optional(),
    })
    .meta({
      title: "`{ name, version }`",
      description: "The name and version sent to clients. Defaults: the item's name, the package's version.",
    })
    .optional(),
  instructions: describe(text, "Instructions for models on how to use the server.").optional(),
  mcpServerName: serverNames.mcpServerName,
  tools: describe(references, "The bundles to serve."),
});

const toolsetList = z.object({
  name: describe(name, "The item's name."),
  description: describe(text, "What the tools have in common.").optional(),
  tools: describe(references, "The tools of the toolset.").optional(),
  toolsets: describe(references, "Toolsets whose tools it includes.").optional(),
});

const bundleEntry = z.object({
  name: describe(name, "The advertised name."),
  title: describe(text, "A display name.").optional(),
  description: describe(text, "What the tool does and when to use it.").optional(),
  argumentsSchema: describe(jsonSchema, "The JSON Schema of the arguments.").optional(),
  outputSchema: describe(jsonSchema, "The JSON Schema of `structuredContent`.").optional(),
  annotations: describe(jsonObject, "MCP's hints about the tool's behavior.").optional(),
  _meta: describe(jsonObject, "Additional metadata, as in a tool.").optional(),
  handler: code.meta({
    title: "reference to a tool, or `./module.js#export`",
    description: "The function that handles calls.",
  }),
  inputs: describe(
    z.unknown(),
    "The handler's input, computed from `request`. Default: the arguments.",
  ).optional(),
  result: describe(
    z.unknown(),
    "The whole result, computed from `result`. Default: as for a tool.",
  ).optional(),
  catches: z
    .array(
      z.object({
        code: describe(
          z.union([z.string(), z.number()]),
          "The `code` of the error that the handler throws.",
        ).optional(),
        when: describe(z.string(), "CEL condition on `error`.").optional(),
        error: describe(
          z.looseObject({
            code: describe(z.union([z.number(), z.string()]), "The code of the JSON-RPC error."),
          }),
          "The JSON-RPC error that the client gets.",
        ),
      }),
    )
    .meta({
      title: "array of `{ code, when, error }`",
      description: "JSON-RPC errors for exceptions of the handler. The first match applies.",
    })
    .optional(),
});

const toolsBundle = z.object({
  kind: describe(z.literal("Mcp.Tools"), "Marks the toolset as a bundle."),
  metadata,
  description: describe(text, "What the tools have in common.").optional(),
  entries: z.array(bundleEntry).meta({ title: "array of entries", description: "The tools of the bundle." }),
});

/** `complete` of a prompt or a template. The host checks that the names are declared. */
const complete = (of: string) =>
  z
    .record(z.string(), z.union([z.array(text), ...code.options]))
    .meta({
      title: "object of arrays of strings, or `./module.js#export`, by name",
      description: `Suggestions for the values of ${of}. An array is filtered by what the user has typed.`,
    })
    .optional();

const prompt = z.object({
  name: describe(name, "The item's name."),
  title: describe(text, "A display name.").optional(),
  description: describe(text, "The purpose of the prompt.").optional(),
  arguments: z
    .array(
      z.looseObject({
        name: describe(name, "The name of the argument."),
        description: describe(text, "The description shown to the user.").optional(),
        required: describe(z.boolean(), "Whether the argument is required. Default: false.").optional(),
      }),
    )
    .meta({
      title: "array of `{ name, description, required }`",
      description: "Strings that the user provides.",
    })
    .optional(),
  content: z
    .union([
      text,
      z.array(
        z.looseObject({
          role: describe(z.enum(["user", "assistant"]), "The author of the message."),
          content: describe(
            z.union([
              text,
              z.looseObject({ type: describe(name, "The type of the content block, such as `text`.") }),
            ]),
            "A string, or an MCP content block.",
          ),
        }),
      ),
    ])
    .meta({
      title: "string, or array of MCP messages",
      description:
        "The text or messages, with `{{argument}}` placeholders. Either this or `handler` is required.",
    })
    .optional(),
  handler: describe(
    code,
    "The function that returns a string or `{ messages }` for the arguments.",
  ).optional(),
  complete: complete("arguments"),
});

const resource = z.object({
  name: describe(name, "The item's name."),
  uri: describe(name, "The URI. Either this or `uriTemplate` is required.").optional(),
  uriTemplate: describe(
    name,
    "A URI with places for variables, as in `docs://{page}`: level 1 of RFC 6570. A variable never matches a `/`.",
  ).optional(),
  title: describe(text, "A display name.").optional(),
  description: describe(text, "What the resource contains.").optional(),
  mimeType: describe(name, "The media type of the contents, such as `text/markdown`.").optional(),
  annotations: z
    .looseObject({
      audience: describe(z.array(z.enum(["user", "assistant"])), "Who the resource is for.").optional(),
      priority: describe(
        z.number().min(0).max(1),
        "How important it is: from 0, optional, to 1, required.",
      ).optional(),
      lastModified: describe(text, "When it was last changed, such as `2026-01-31T12:00:00Z`.").optional(),
    })
    .meta({
      title: "`{ audience, priority, lastModified }`",
      description: "MCP's hints about the resource: `user` or `assistant`, from 0 to 1, and a date and time.",
    })
    .optional(),
  _meta: describe(jsonObject, "Additional metadata for clients.").optional(),
  text: describe(text, "The contents. Either this, `file` or `handler` is required.").optional(),
  file: describe(
    name,
    "A file inside the package with the contents, of at most 10 MiB, relative to the package root.",
  ).optional(),
  handler: describe(
    code,
    "The function that returns a string, bytes or `{ contents }` for the URI and the variables.",
  ).optional(),
  subscribe: describe(
    code,
    "The function that watches the resource while a client is subscribed, and says when it has changed.",
  ).optional(),
  complete: complete("the template's variables"),
});

/** Every shape of a definition. */
export const definitionShapes = {
  tool,
  composedServer,
  subprocessServer,
  serverDocument,
  toolsetList,
  toolsBundle,
  prompt,
  resource,
};

/** A tool of a bundle: exported for the reference. */
export { bundleEntry };
