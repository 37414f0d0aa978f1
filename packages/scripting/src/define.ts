import { addClient } from "./client.ts";
import type {
  ModuleReference,
  ParameterDefinition,
  PromptArgumentDefinition,
  PromptDefinition,
  PromptFields,
  PromptText,
  ServerDefinition,
  ToolDefinition,
  ToolFields,
  ToolsetDefinition,
} from "./definitions.ts";
import type { HandlerContext, ToolArguments, ToolContext, ToolHandlerResult } from "./handlers.ts";
import type { CallerArguments, HandlerArguments, StructuredResult } from "./infer-arguments.ts";
import type { NeededInput } from "./input.ts";
import type { CompletionSource, FixedResourceDefinition, ResourceTemplateDefinition } from "./resources.ts";
import type { CallToolResult } from "./result.ts";
import { isStandardSchema, parseWith, type StandardSchema, toJsonSchema } from "./standard-schema.ts";

/** A JSON Schema of type object, as a literal. */
export type InputSchema = {
  type: "object";
  properties?: { readonly [name: string]: object };
  required?: readonly string[];
  [keyword: string]: unknown;
};

type SchemaOption = InputSchema | StandardSchema | undefined;
type ParametersOption = { readonly [name: string]: ParameterDefinition } | undefined;

/** A tool declares its arguments in one way: `inputSchema` or `parameters`. */
type OneOf<Input, Parameters> = [Input, Parameters] extends [undefined, undefined]
  ? { inputSchema: InputSchema | StandardSchema }
  : [Input] extends [undefined]
    ? { inputSchema?: never }
    : { parameters?: never };

/** What a handler returns; of a tool with an `outputSchema`, what matches it. */
type ResultFor<Output> = [Output] extends [undefined]
  ? ToolHandlerResult
  : CallToolResult | StructuredResult<Output>;

/** The argument of `defineTool`. `Input`, `Parameters` and `Output` are inferred. */
export interface ToolSource<Input, Parameters, Output = undefined> extends ToolFields {
  /** JSON Schema, or the schema of a library such as zod (from 4.2), which then also validates the arguments. */
  inputSchema?: Input;
  /** The short form of `inputSchema`: parameters by name. */
  parameters?: Parameters;
  /** Schema of `structuredContent`. A result that does not match it counts as a failure. */
  outputSchema?: Output;
  /** The function or a reference to it. Its arguments are validated, with defaults filled in. */
  handler:
    | ModuleReference
    | ((
        args: ToolArguments<HandlerArguments<Input, Parameters>>,
        context: ToolContext,
      ) => ResultFor<Output> | NeededInput | Promise<ResultFor<Output> | NeededInput>);
}

/** Only for types: the arguments of callers, who can omit those with defaults. */
declare const callerArguments: unique symbol;

/** A tool's definition with the type of its callers' arguments. */
export type DefinedTool<Caller extends object, Args extends object> = ToolDefinition<Args> & {
  readonly [callerArguments]?: Caller;
};

/** The arguments of a tool's callers; any object if its definition does not declare them. */
export type ArgumentsOfTool<Tool> = typeof callerArguments extends keyof Tool
  ? NonNullable<Tool[typeof callerArguments & keyof Tool]>
  : Tool extends ToolDefinition<infer Args>
    ? Args
    : Record<string, unknown>;

type AnyHandler = (args: unknown, context: HandlerContext) => unknown;

/** Gives a wrapper the function's own name, which inspection shows. */
function named<Wrapped extends AnyHandler>(wrapped: Wrapped, original: { name: string }): Wrapped {
  return Object.defineProperty(wrapped, "name", { value: original.name, configurable: true });
}

/** The arguments as a library's schema returns them, with the context that the host adds, if any. */
async function parseArguments(schema: StandardSchema, args: Record<string, unknown>): Promise<unknown> {
  const { _trailblazeContext: context, ...own } = args;
  const parsed = await parseWith(schema, own);
  if (context === undefined || typeof parsed !== "object" || parsed === null) return parsed;
  return Object.defineProperty({ ...parsed }, "_trailblazeContext", { value: context });
}

/**
 * Defines a tool, for a definition file's export or for `run`. The types of the handler's arguments and, with an
 * `outputSchema`, of its result are inferred from the schemas. At run time, it returns the definition itself, except that schemas of libraries become JSON Schema and
 * that a handler function also gets a `client`. Throws a `TypeError` for a schema that has no JSON Schema; the host
 * validates the rest.
 */
export function defineTool<
  const Input extends SchemaOption = undefined,
  const Parameters extends ParametersOption = undefined,
  const Output extends SchemaOption = undefined,
>(
  source: ToolSource<Input, Parameters, Output> & OneOf<Input, Parameters>,
): DefinedTool<CallerArguments<Input, Parameters>, HandlerArguments<Input, Parameters>> {
  const { handler, inputSchema, outputSchema } = source as ToolSource<
    SchemaOption,
    ParametersOption,
    SchemaOption
  >;
  const checking = isStandardSchema(inputSchema) ? inputSchema : undefined;
  const definition: Record<string, unknown> = { ...source };
  if (checking !== undefined) definition.inputSchema = toJsonSchema(checking, "input", "inputSchema");
  if (isStandardSchema(outputSchema)) {
    definition.outputSchema = toJsonSchema(outputSchema, "output", "outputSchema");
  }
  if (checking !== undefined && typeof handler === "function") {
    const run = handler as AnyHandler;
    const parse = async (args: unknown) => parseArguments(checking, args as Record<string, unknown>);
    definition.handler = named(async (args, context) => run(await parse(args), context), handler);
  }
  return withClient(definition) as never;
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

type ArgumentNames<Declared> = Declared extends readonly PromptArgumentDefinition[]
  ? Declared[number]["name"]
  : never;

/** The argument of `definePrompt`: with `content`, or with a `handler`. */
export type PromptSource<Declared> = Omit<PromptFields, "arguments" | "complete"> & {
  arguments?: Declared;
  /** Suggestions by argument: arrays of strings, functions, or references to functions. */
  complete?: { [Argument in ArgumentNames<Declared>]?: CompletionSource };
} & PromptText<PromptArguments<Declared>, ToolContext>;

/** Defines a prompt. The handler's arguments are inferred from the declared ones. */
export function definePrompt<
  const Declared extends readonly PromptArgumentDefinition[] | undefined = undefined,
>(source: PromptSource<Declared>): PromptDefinition<PromptArguments<Declared>> {
  return withClient(source) as never;
}

/** A definition whose handler, if it is a function, also gets a `client`. */
function withClient({ ...definition }: { handler?: unknown }): object {
  const { handler } = definition;
  if (typeof handler !== "function") return definition;
  const run = handler as AnyHandler;
  return { ...definition, handler: named((args, context) => run(args, addClient(context)), handler) };
}

/** Defines a resource. The handler's arguments of a template are inferred from its variables. */
export function defineResource<const Template extends string = never>(
  source: FixedResourceDefinition<ToolContext> | ResourceTemplateDefinition<Template, ToolContext>,
): FixedResourceDefinition | ResourceTemplateDefinition<Template> {
  return withClient(source) as never;
}

/** Defines a server: returns the definition, checked by its type. */
export function defineServer(definition: ServerDefinition): ServerDefinition {
  return definition;
}

/** Defines a toolset or a bundle of tools: returns the definition, checked by its type. */
export function defineToolset(definition: ToolsetDefinition): ToolsetDefinition {
  return definition;
}
