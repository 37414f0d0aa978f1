import { clientFrom } from "./client-from.ts";
import type {
  ModuleReference,
  OptionDefinition,
  ParameterDefinition,
  PromptArgumentDefinition,
  PromptDefinition,
  ServerDefinition,
  ToolDefinition,
  ToolsetDefinition,
} from "./definitions.ts";
import type {
  HandlerContext,
  PromptHandlerResult,
  ToolArguments,
  ToolContext,
  ToolHandlerResult,
} from "./handlers.ts";
import type { CallerArguments, HandlerArguments } from "./infer-arguments.ts";
import type { ObjectSchema, PromptMessage, ToolAnnotations } from "./mcp.ts";
import { isStandardSchema, parseWith, type StandardSchema, toJsonSchema } from "./standard-schema.ts";
import type { TrailblazeToolMeta } from "./tool-meta.ts";

/** JSON Schema of type object, as it is written out in code. */
export type InputSchema = {
  type: "object";
  properties?: { readonly [name: string]: object };
  required?: readonly string[];
  [keyword: string]: unknown;
};

type InputSchemaOption = InputSchema | StandardSchema | undefined;
type ParametersOption = { readonly [name: string]: ParameterDefinition } | undefined;

/** A tool must say what it takes in one way: `inputSchema` or `parameters`. */
type OneOf<Input, Parameters> = [Input, Parameters] extends [undefined, undefined]
  ? { inputSchema: InputSchema | StandardSchema }
  : [Input] extends [undefined]
    ? { inputSchema?: never }
    : { parameters?: never };

/** What `defineTool` takes. `Input` and `Parameters` are inferred from what is written. */
export interface ToolSource<Input, Parameters> {
  /** The advertised name, what clients and models see: 1 to 64 of `A-Za-z0-9_-`. */
  name: string;
  title?: string;
  /** For models and people: what the tool does, and when to use it. */
  description?: string;
  /** JSON Schema; or the schema of a library, zod from 4.2 for example, which then also checks the arguments. */
  inputSchema?: Input;
  /** The short form of `inputSchema`: parameters by name. */
  parameters?: Parameters;
  /** Schema of `structuredContent`. A result that breaks it counts as a failure. */
  outputSchema?: ObjectSchema | StandardSchema;
  annotations?: ToolAnnotations;
  _meta?: TrailblazeToolMeta;
  /** The function, or where it is. Its arguments have been checked, with defaults filled in. */
  handler:
    | ModuleReference
    | ((
        args: ToolArguments<HandlerArguments<Input, Parameters>>,
        context: ToolContext,
      ) => ToolHandlerResult | Promise<ToolHandlerResult>);
  /** Runs once per process before the first call, and never while a pack is only looked at. */
  initialize?: ModuleReference | (() => unknown);
  options?: { [name: string]: OptionDefinition };
}

/** Only there for types: what callers of a tool give, who need not give what has a default. */
declare const callerArguments: unique symbol;

/** A tool's definition that knows what its callers give. */
export type DefinedTool<Caller extends object, Args extends object> = ToolDefinition<Args> & {
  readonly [callerArguments]?: Caller;
};

/** What callers of a tool give; any object where its definition does not say. */
export type ArgumentsOfTool<Tool> = typeof callerArguments extends keyof Tool
  ? NonNullable<Tool[typeof callerArguments & keyof Tool]>
  : Tool extends ToolDefinition<infer Args>
    ? Args
    : Record<string, unknown>;

const addClient = (context: HandlerContext): ToolContext =>
  Object.freeze({ client: clientFrom(context), ...context });

type AnyHandler = (args: unknown, context: HandlerContext) => unknown;

/** The function under its own name, by which inspection shows it. */
function named<Wrapped extends AnyHandler>(wrapped: Wrapped, original: { name: string }): Wrapped {
  return Object.defineProperty(wrapped, "name", { value: original.name, configurable: true });
}

/** The arguments as a library's schema turns them out; with the context, if there is one, as the host adds it. */
async function parseArguments(schema: StandardSchema, args: Record<string, unknown>): Promise<unknown> {
  const { _trailblazeContext: context, ...own } = args;
  const parsed = await parseWith(schema, own);
  if (context === undefined || typeof parsed !== "object" || parsed === null) return parsed;
  return Object.defineProperty({ ...parsed }, "_trailblazeContext", { value: context });
}

/**
 * The definition of a tool, as a definition file exports it and `run` takes it. Arguments of the handler are inferred
 * from the schema. At run time this is the definition itself, except that a library's schemas become JSON Schema, and
 * that a handler which is a function gets a `client` as well. Throws a `TypeError` for a schema that cannot be written
 * as JSON Schema; the rest is for the host to check.
 */
export function defineTool<
  const Input extends InputSchemaOption = undefined,
  const Parameters extends ParametersOption = undefined,
>(
  source: ToolSource<Input, Parameters> & OneOf<Input, Parameters>,
): DefinedTool<CallerArguments<Input, Parameters>, HandlerArguments<Input, Parameters>> {
  const { handler, inputSchema, outputSchema } = source as ToolSource<InputSchemaOption, ParametersOption>;
  const checking = isStandardSchema(inputSchema) ? inputSchema : undefined;
  const definition: Record<string, unknown> = { ...source };
  if (checking !== undefined) definition.inputSchema = toJsonSchema(checking, "input", "inputSchema");
  if (isStandardSchema(outputSchema)) {
    definition.outputSchema = toJsonSchema(outputSchema, "output", "outputSchema");
  }
  if (typeof handler === "function") {
    const run = handler as AnyHandler;
    const wrapped: AnyHandler = checking
      ? async (args, context) =>
          run(await parseArguments(checking, args as Record<string, unknown>), addClient(context))
      : (args, context) => run(args, addClient(context));
    definition.handler = named(wrapped, handler);
  }
  return definition as never;
}

type PromptArguments<Declared> = Declared extends readonly PromptArgumentDefinition[]
  ? {
      [Argument in Declared[number] as Argument extends { required: true }
        ? Argument["name"]
        : never]: string;
    } & {
      [Argument in Declared[number] as Argument extends { required: true }
        ? never
        : Argument["name"]]?: string;
    }
  : Record<string, string>;

/** What `definePrompt` takes: `content`, or a `handler`. */
export type PromptSource<Declared> = {
  name: string;
  title?: string;
  description?: string;
  arguments?: Declared;
} & (
  | {
      /** A text with `{{argument}}` places, or messages with such places. */
      content: string | PromptMessage[];
      handler?: never;
    }
  | {
      handler:
        | ModuleReference
        | ((
            args: PromptArguments<Declared>,
            context: ToolContext,
          ) => PromptHandlerResult | Promise<PromptHandlerResult>);
      content?: never;
    }
);

/** The definition of a prompt. Arguments of the handler are inferred from those that are declared. */
export function definePrompt<
  const Declared extends readonly PromptArgumentDefinition[] | undefined = undefined,
>(source: PromptSource<Declared>): PromptDefinition<PromptArguments<Declared>> {
  const definition: Record<string, unknown> = { ...source };
  if (typeof source.handler === "function") {
    const run = source.handler as AnyHandler;
    definition.handler = named((args, context) => run(args, addClient(context)), source.handler);
  }
  return definition as never;
}

/** The definition of a server: itself, checked by its type. */
export function defineServer(definition: ServerDefinition): ServerDefinition {
  return definition;
}

/** The definition of a toolset, or a bundle of tools: itself, checked by its type. */
export function defineToolset(definition: ToolsetDefinition): ToolsetDefinition {
  return definition;
}
