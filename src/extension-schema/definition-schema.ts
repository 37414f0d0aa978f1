// The one source of the shape of definition files; read at build time only, as schema.ts is.
import { z } from "zod";

const text = z.string();
/** Any text but an empty one; a pattern, since lengths would need a part of ajv at run time. */
const name = z.string().regex(/\S/);
const references = z.array(name);
const jsonObject = z.record(z.string(), z.unknown());
/** `./module.js#export`, or a function of a code definition as inspection shows it. */
const code = z.union([name, z.object({ $function: z.string() })]);

const tool = z.object({
  name,
  title: text.optional(),
  description: text.optional(),
  inputSchema: jsonObject.optional(),
  parameters: z.record(z.string(), z.looseObject({ required: z.boolean().optional() })).optional(),
  outputSchema: jsonObject.optional(),
  annotations: z
    .looseObject({
      title: text.optional(),
      readOnlyHint: z.boolean().optional(),
      destructiveHint: z.boolean().optional(),
      idempotentHint: z.boolean().optional(),
      openWorldHint: z.boolean().optional(),
    })
    .optional(),
  _meta: jsonObject.optional(),
  handler: code,
  initialize: code.optional(),
  options: z.record(z.string(), z.looseObject({ description: text.optional() })).optional(),
});

const serverNames = { name: name.optional(), version: name.optional(), mcpServerName: name.optional() };

const composedServer = z.object({
  ...serverNames,
  description: text.optional(),
  tools: references.optional(),
  toolsets: references.optional(),
  prompts: references.optional(),
  transport: z.enum(["stdio", "http"]).optional(),
  initialize: code.optional(),
  instructions: text.optional(),
});

const subprocessServer = z.object({
  ...serverNames,
  description: text.optional(),
  command: name.optional(),
  script: name.optional(),
  args: z.array(z.string()).optional(),
  cwd: name.optional(),
  env: z.record(z.string(), z.string()).optional(),
  envPassthrough: z.array(name).optional(),
  legacyContext: z.boolean().optional(),
});

const serverDocument = z.object({
  kind: z.enum(["Mcp.StdioServer", "Mcp.HttpEndpoint"]),
  metadata: z.looseObject({ name }),
  serverInfo: z.looseObject({ name: name.optional(), version: name.optional() }).optional(),
  instructions: text.optional(),
  mcpServerName: name.optional(),
  tools: references,
});

const toolsetList = z.object({
  name,
  description: text.optional(),
  tools: references.optional(),
  toolsets: references.optional(),
});

const toolsBundle = z.object({
  kind: z.literal("Mcp.Tools"),
  metadata: z.looseObject({ name }),
  description: text.optional(),
  entries: z.array(
    z.object({
      name,
      title: text.optional(),
      description: text.optional(),
      argumentsSchema: jsonObject.optional(),
      outputSchema: jsonObject.optional(),
      annotations: jsonObject.optional(),
      _meta: jsonObject.optional(),
      handler: code,
      inputs: z.unknown().optional(),
      result: z.unknown().optional(),
      catches: z
        .array(
          z.object({
            code: z.union([z.string(), z.number()]).optional(),
            when: z.string().optional(),
            error: z.looseObject({ code: z.union([z.number(), z.string()]) }),
          }),
        )
        .optional(),
    }),
  ),
});

const prompt = z.object({
  name,
  title: text.optional(),
  description: text.optional(),
  arguments: z
    .array(z.looseObject({ name, description: text.optional(), required: z.boolean().optional() }))
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
    .optional(),
  handler: code.optional(),
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
