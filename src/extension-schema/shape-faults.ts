// From what zod finds in a value to faults for people: the only words for violations of a shape. A schema may say its own
// words: what it expects instead of a type or one of the forms, or what is wrong with a value that breaks a rule.
import * as z from "zod/mini";
import { describeType, isRecord } from "../data/parse-json.ts";
import { listOf, type Path } from "../problems/index.ts";
import { valueAt } from "./pointer.ts";

export interface Fault {
  /** Continues a message after a colon, without a period. */
  reason: string;
  path: Path;
  hint?: string | undefined;
}

/** The message of a schema: its words and a hint. Those of a rule continue after the path of the value. */
export const says = (words: string, hint?: string): string =>
  hint === undefined ? words : `${words}\n${hint}`;

export interface Breach {
  words: string;
  hint?: string | undefined;
  path?: Path;
}

type FindBreaches<Value> = (value: Value) => string | undefined | Breach | readonly Breach[];

/** A rule that JSON Schema cannot express: what breaks it, if anything. It is not applied to values of the wrong shape. */
export const rule = <Value>(
  find: FindBreaches<Value>,
  when: NonNullable<z.core.$ZodCheckDef["when"]> = ({ issues }) => issues.length === 0,
) =>
  z.check<Value>(
    ({ value, issues }) => {
      for (const breach of [find(value) ?? []].flat() as (string | Breach)[]) {
        const { words, hint, path = [] }: Breach = typeof breach === "string" ? { words: breach } : breach;
        issues.push({ code: "custom", input: value, path: [...path], message: says(words, hint) });
      }
    },
    { when },
  );

/** A rule about the keys of an object, which is also applied where values in it have the wrong shape. */
export const ruleOfKeys = <Value extends Readonly<Record<string, unknown>>>(find: FindBreaches<Value>) =>
  rule(find, ({ value }) => isRecord(value));

/** Parses without zod's own words, which depend on what else of zod the process has loaded. */
export const parseShape = <Schema extends z.core.$ZodType>(schema: Schema, value: unknown) =>
  z.safeParse(schema, value, { error: () => "" });

export type AnySchema = z.core.$ZodType;

/** The parts of zod's schemas that contain others. */
export interface SchemaParts {
  element?: AnySchema;
  valueType?: AnySchema;
  options?: readonly AnySchema[];
  shape?: Readonly<Record<string, AnySchema>>;
  /** That of objects which allow any key. */
  catchall?: AnySchema;
}

/** The parts of a schema itself, without what says that a value is optional. */
export function partsOf(schema: AnySchema): SchemaParts {
  const parts = schema._zod.def as SchemaParts & { innerType?: AnySchema };
  return parts.innerType === undefined ? parts : partsOf(parts.innerType);
}

const typeWords: Readonly<Record<string, string>> = {
  object: "an object",
  record: "an object",
  array: "an array",
  int: "an integer",
};

/** How messages show a path and a word that a value may be, and the hint for a number or a boolean in place of a string. */
export interface Style {
  path(path: Path): string;
  word(word: string): string;
  scalarHint?: string;
}

function describeIssue(issue: z.core.$ZodIssue, root: unknown, style: Style): Fault {
  const path = issue.path as Path;
  const value = valueAt(root, path);
  const [words, writtenHint] = issue.message.split("\n");
  const isScalar = typeof value === "number" || typeof value === "boolean";
  const isText = issue.code === "invalid_type" && issue.expected === "string";
  const hint = writtenHint ?? (isText && isScalar ? style.scalarHint : undefined);
  const fault = (reason: string) => {
    const where = path.length === 0 ? "it" : style.path(path);
    return { reason: `${where} ${reason}`, path, hint };
  };
  if (issue.code === "too_small") return fault(`must be at least ${issue.minimum}, but it is ${value}`);
  if (issue.code === "too_big") return fault(`must be at most ${issue.maximum}, but it is ${value}`);
  if (issue.code === "invalid_format" || issue.code === "custom") return fault(words || "is empty");
  if (issue.code === "invalid_value" && words) return fault(words);
  if (value === undefined && path.length > 0) {
    const owner = path.slice(0, -1);
    const of = owner.length === 0 ? "" : ` in ${style.path(owner)}`;
    return { reason: `\`${String(path.at(-1))}\` is missing${of}`, path: owner };
  }
  if (issue.code === "invalid_value") {
    const allowed = issue.values.map((one) => style.word(String(one)));
    const choice = allowed.length === 1 ? allowed[0] : `one of ${listOf(allowed)}`;
    return fault(`must be ${choice}${typeof value === "string" ? "" : `, but it is ${describeType(value)}`}`);
  }
  const expected = issue.code === "invalid_type" ? issue.expected : undefined;
  const what = words || (expected && (typeWords[expected] ?? `a ${expected}`));
  if (what === undefined) return fault(`has none of the valid forms: it is ${describeType(value)}`);
  const isClass = expected === "record" && isRecord(value);
  const isNumber = expected === "int" && typeof value === "number";
  const found = isClass ? "an instance of a class" : isNumber ? value : describeType(value);
  return fault(`must be ${what}, but it is ${found}`);
}

/** Describes what zod found in a value. Of a union, it describes the form that the value has. */
export function describeIssues(issues: readonly z.core.$ZodIssue[], root: unknown, style: Style): Fault[] {
  return issues.flatMap((issue) => {
    const describeInner = (inner: readonly z.core.$ZodIssue[]) =>
      describeIssues(
        inner.map((one) => ({ ...one, path: [...issue.path, ...one.path] })),
        root,
        style,
      );
    if (issue.code === "invalid_key") return describeInner(issue.issues);
    const form = issue.code === "invalid_union" ? issue.errors.find(isInside) : undefined;
    return form === undefined ? [describeIssue(issue, root, style)] : describeInner(form);
  });
}

/** Whether a form of a union is at fault only inside the value. `$function` is none that people write. */
const isInside = (issues: readonly z.core.$ZodIssue[]): boolean =>
  issues.every(({ path: [key] }) => key !== undefined && key !== "$function");
