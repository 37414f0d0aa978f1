// The one source of the shape of definition files; read at build time only, as schema.ts is.
import { z } from "zod";

const text = z.string();
/** Any string but an empty one; a pattern, since lengths would need a part of ajv at run time. */
const name = z.string().regex(/\S/);
const references = z.array(name).meta({ title: "list of references" });
const jsonObject = z.record(z.string(), z.unknown());
const jsonSchema = z.record(z.string(), z.unknown()).meta({ title: "JSON Schema" });
/** `./module.js#export`, or a function of a code definition as inspection shows it. */
const code = z
  .union([name, z.object({ $function: z.string() })])
  .meta({ title: "`./module.js#export`; in code also a function" });

/** What stands under a key, in the words of the reference. */
const says = <Schema extends z.ZodType>(schema: Schema, description: string): Schema =>
  schema.meta({ description });

const hint = (description: string) => says(z.boolean(), description).optional();

const annotations = z.looseObject({
  title: text.optional(),
  readOnlyHint: hint("The tool changes nothing."),
  destructiveHint: hint("What it changes may be lost."),
  idempotentHint: hint("A second call with the same arguments changes nothing more."),
  openWorldHint: hint("It works with things outside, such as the web."),
});

const parameter = z.looseObject({ required: z.boolean().optional() });

const tool = z.object({
  name: says(name, "The advertised name, which models see: 1 to 64 of `A-Za-z0-9_-`."),
  title: says(text, "Name for people.").optional(),
  description: says(text, "What it does and when to use it, for models and people.").optional(),
  inputSchema: says(jsonSchema, "The arguments. Either this or `parameters` is needed.").optional(),
  parameters: z
    .record(z.string(), parameter)
    .meta({
      title: "map from names to JSON Schemas",
      description: "The arguments in short; each may say `required: true`.",
    })
    .optional(),
  outputSchema: says(
    jsonSchema,
    "What `structuredContent` must be. A result that breaks it is a failure.",
  ).optional(),
  annotations: says(annotations, "MCP's hints about what the tool does.").optional(),
  _meta: says(jsonObject, "MCP's place for more; the host reads the keys below.").optional(),
  handler: says(code, "What a call runs."),
  initialize: says(
    code,
    "Runs once per process before the first call, and never while a pack is only looked at.",
  ).optional(),
  options: z
    .record(z.string(), z.looseObject({ description: text.optional() }))
    .meta({
      title: "map from names to `{ default, description }`",
      description: "Values that the user's config may set.",
    })
    .optional(),
});

const serverNames = {
  name: says(name, "Name that clients are told. Default: the item's.").optional(),
  version: says(name, "Version that clients are told. Default: the package's.").optional(),
  mcpServerName: says(name, "Key of the server in clients' configs. Default: the item's name.").optional(),
};

const composedServer = z.object({
  ...serverNames,
  description: says(text, "What it is for.").optional(),
  tools: says(references, "Tools that it serves.").optional(),
  toolsets: says(references, "Toolsets whose tools it serves, after its own.").optional(),
  prompts: says(references, "Prompts that it serves.").optional(),
  transport: says(z.enum(["stdio", "http"]), "How clients reach it. Default: `stdio`.").optional(),
  initialize: says(code, "Runs once when the server starts, before the tools' own.").optional(),
  instructions: says(text, "What clients tell the model about the server.").optional(),
});

const subprocessServer = z.object({
  ...serverNames,
  description: says(text, "What it is for.").optional(),
  command: says(name, "Program to run. Either this or `script` is needed.").optional(),
  script: says(name, "Script inside the package, run with the host's Node.").optional(),
  args: says(z.array(z.string()), "Arguments, as they are written.").optional(),
  cwd: says(name, "Folder to run in, inside the package. Default: its root.").optional(),
  env: z
    .record(z.string(), z.string())
    .meta({ title: "map from names to texts", description: "Variables for its environment." })
    .optional(),
  envPassthrough: says(
    z.array(name),
    "Names of variables that it gets from the host's environment.",
  ).optional(),
  legacyContext: says(
    z.boolean(),
    "Whether calls carry `_trailblazeContext` in their arguments. Default: true.",
  ).optional(),
});

const metadata = z.looseObject({ name }).meta({ title: "`{ name }`", description: "The item's name." });

const serverDocument = z.object({
  kind: says(z.enum(["Mcp.StdioServer", "Mcp.HttpEndpoint"]), "How clients reach it."),
  metadata,
  serverInfo: z
    .looseObject({ name: name.optional(), version: name.optional() })
    .meta({
      title: "`{ name, version }`",
      description: "What clients are told. Defaults: the item's name, the package's version.",
    })
    .optional(),
  instructions: says(text, "What clients tell the model about the server.").optional(),
  mcpServerName: serverNames.mcpServerName,
  tools: says(references, "Bundles that it serves."),
});

const toolsetList = z.object({
  name: says(name, "The item's name."),
  description: says(text, "What the tools have in common.").optional(),
  tools: says(references, "Tools in it.").optional(),
  toolsets: says(references, "Toolsets whose tools are in it, too.").optional(),
});

const bundleEntry = z.object({
  name: says(name, "The advertised name."),
  title: says(text, "Name for people.").optional(),
  description: says(text, "What it does and when to use it.").optional(),
  argumentsSchema: says(jsonSchema, "The arguments.").optional(),
  outputSchema: says(jsonSchema, "What `structuredContent` must be.").optional(),
  annotations: says(jsonObject, "MCP's hints.").optional(),
  _meta: says(jsonObject, "As in a tool.").optional(),
  handler: code.meta({
    title: "reference to a tool, or `./module.js#export`",
    description: "What a call runs.",
  }),
  inputs: says(z.unknown(), "What the handler gets, made from `request`. Default: the arguments.").optional(),
  result: says(z.unknown(), "The whole answer, made from `result`. Default: as for a tool.").optional(),
  catches: z
    .array(
      z.object({
        code: z.union([z.string(), z.number()]).optional(),
        when: z.string().optional(),
        error: z.looseObject({ code: z.union([z.number(), z.string()]) }),
      }),
    )
    .meta({
      title: "list of `{ code, when, error }`",
      description: "JSON-RPC errors for what the handler throws; the first that matches counts.",
    })
    .optional(),
});

const toolsBundle = z.object({
  kind: says(z.literal("Mcp.Tools"), "Makes the toolset a bundle."),
  metadata,
  description: says(text, "What the tools have in common.").optional(),
  entries: z.array(bundleEntry).meta({ title: "list of entries", description: "Its tools." }),
});

const prompt = z.object({
  name: says(name, "The item's name."),
  title: says(text, "Name for people.").optional(),
  description: says(text, "What it asks for.").optional(),
  arguments: z
    .array(z.looseObject({ name, description: text.optional(), required: z.boolean().optional() }))
    .meta({
      title: "list of `{ name, description, required }`",
      description: "Texts that the user gives.",
    })
    .optional(),
  content: z
    .union([
      text,
      z.array(
        z.looseObject({
          role: z.enum(["user", "assistant"]),
          content: z.union([text, z.looseObject({ type: name })]),
        }),
      ),
    ])
    .meta({
      title: "text, or list of MCP messages",
      description: "With `{{argument}}` places. Either this or `handler` is needed.",
    })
    .optional(),
  handler: says(code, "Makes the text or `{ messages }` from the arguments.").optional(),
});

/** Every shape that a definition can have. */
export const definitionShapes = {
  tool,
  composedServer,
  subprocessServer,
  serverDocument,
  toolsetList,
  toolsBundle,
  prompt,
};

/** A tool of a bundle; a part of `toolsBundle`, for the reference. */
export { bundleEntry };
