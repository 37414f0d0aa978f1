// Infers a TypeScript type from a literal JSON Schema, for its most common keywords. Everything else is `unknown`; the
// type is never narrower than the schema.
import type { StandardSchema } from "./standard-schema.ts";

type Simplify<T> = { [Key in keyof T]: T[Key] };

type OfType<Type, Schema, Mode> = Type extends "string"
  ? string
  : Type extends "number" | "integer"
    ? number
    : Type extends "boolean"
      ? boolean
      : Type extends "null"
        ? null
        : Type extends "array"
          ? Schema extends { items: infer Items extends object }
            ? FromSchema<Items, Mode>[]
            : unknown[]
          : Type extends "object"
            ? FromProperties<Schema, Mode>
            : unknown;

/** The type of a schema's values. */
type FromSchema<Schema, Mode> = Schema extends { const: infer Value }
  ? Value
  : Schema extends { enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { anyOf: readonly (infer Choice)[] } | { oneOf: readonly (infer Choice)[] }
      ? FromSchema<Choice, Mode>
      : Schema extends { type: readonly (infer Type)[] }
        ? OfType<Type, Schema, Mode>
        : Schema extends { type: infer Type }
          ? OfType<Type, Schema, Mode>
          : unknown;

/** Whether a property with a default counts as present: for the handler it does, for the caller it does not. */
type FilledIn = "filled in";
type AsGiven = "as given";

type NamedRequired<Schema> = Schema extends { required: readonly (infer Name)[] } ? Name : never;
type WithDefault<Properties> = {
  [Key in keyof Properties]: Properties[Key] extends { default: unknown } ? Key : never;
}[keyof Properties];

type PresentKeys<Schema, Properties, Mode> = Mode extends FilledIn
  ? NamedRequired<Schema> | WithDefault<Properties>
  : Exclude<NamedRequired<Schema>, WithDefault<Properties>>;

type FromProperties<Schema, Mode> = Schema extends { properties: infer Properties extends object }
  ? string extends keyof Properties
    ? Record<string, unknown>
    : Simplify<
        {
          -readonly [Key in keyof Properties as Key extends PresentKeys<Schema, Properties, Mode>
            ? Key
            : never]: FromSchema<Properties[Key], Mode>;
        } & {
          -readonly [Key in keyof Properties as Key extends PresentKeys<Schema, Properties, Mode>
            ? never
            : Key]?: FromSchema<Properties[Key], Mode>;
        }
      >
  : Record<string, unknown>;

/** The object schema of the short form, in which each parameter has its own `required`. */
type AsObjectSchema<Parameters> = {
  properties: Parameters;
  required: readonly {
    [Key in keyof Parameters]: Parameters[Key] extends { required: true } ? Key : never;
  }[keyof Parameters][];
};

type ObjectOr<Type> = Type extends object ? Type : Record<string, unknown>;

type Infer<Input, Parameters, Mode, Side extends "input" | "output"> = Input extends StandardSchema
  ? ObjectOr<NonNullable<Input["~standard"]["types"]>[Side]>
  : Input extends object
    ? FromProperties<Input, Mode>
    : Parameters extends object
      ? FromProperties<AsObjectSchema<Parameters>, Mode>
      : Record<string, unknown>;

/** The handler's arguments, inferred from `inputSchema` (JSON Schema or a library's) or `parameters`. */
export type HandlerArguments<Input, Parameters> = Infer<Input, Parameters, FilledIn, "output">;

/** The caller's arguments. */
export type CallerArguments<Input, Parameters> = Infer<Input, Parameters, AsGiven, "input">;

/** TypeScript takes the literals that a function without parameters returns as `string`, `number` or `boolean`. */
type Widen<Type> = Type extends string
  ? string
  : Type extends number
    ? number
    : Type extends boolean
      ? boolean
      : Type extends object
        ? { [Key in keyof Type]: Widen<Type[Key]> }
        : Type;

/** What a handler may return besides a `CallToolResult`, inferred from `outputSchema`; never narrower than the schema. */
export type StructuredResult<Output> = Output extends StandardSchema
  ? Widen<NonNullable<Output["~standard"]["types"]>["output"]>
  : Output extends { properties: infer Properties }
    ? string extends keyof Properties
      ? object
      : Widen<FromProperties<Output, AsGiven>>
    : object;
