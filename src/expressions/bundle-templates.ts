import { isRecord } from "../data/parse-json.ts";
import type { Path } from "../problems/index.ts";
import {
  compileCondition,
  compileTemplate,
  type Template,
  type TemplateFault,
  type TemplateOptions,
} from "./compile-template.ts";
import type { ExpressionEngine, Shape, Variables } from "./expression-engine.ts";

/** The keys of an entry whose strings hold templates, and of one of its catches. */
export const templateKeys = ["inputs", "result", "catches"] as const;

const call = { name: true, arguments: true } as const;
const request: Shape = {
  ...call,
  meta: true,
  session: { id: true, clientInfo: true, capabilities: true },
};
const error: Shape = { code: true, message: true, data: true };

/** What the templates of an entry may name, by the key that they stand under. */
export const bundleVariables: Readonly<Record<(typeof templateKeys)[number], Variables>> = {
  inputs: { request },
  result: { result: true, request: call },
  catches: { error, request },
};

/** One of `catches`, compiled. */
export interface CatchTemplates {
  /** The error's own code that it catches; any where it is not said. */
  code: string | undefined;
  when: Template | undefined;
  /** Evaluates to what is answered: `code`, `message`, `data`. */
  error: Template;
}

/** The templates of one entry, compiled. */
export interface EntryTemplates {
  inputs: Template | undefined;
  result: Template | undefined;
  catches: readonly CatchTemplates[];
}

function compileCatch(
  { code, when, error: answer }: Readonly<Record<string, unknown>>,
  at: (key: string) => TemplateOptions,
): CatchTemplates {
  return {
    code: typeof code === "string" || typeof code === "number" ? String(code) : undefined,
    when: typeof when === "string" ? compileCondition(when, at("when")) : undefined,
    error: compileTemplate(answer, at("error")),
  };
}

/**
 * Compiles the templates of an entry of a bundle, which stands at `path`. Reports each fault; none hides another.
 * What is not of the shape of an entry is passed over: that is a fault of the definition.
 */
export function compileEntryTemplates(
  entry: Readonly<Record<string, unknown>>,
  options: {
    engine: ExpressionEngine;
    path: Path;
    onFault: (fault: TemplateFault) => void;
  },
): EntryTemplates {
  const at = (key: (typeof templateKeys)[number], ...rest: (string | number)[]): TemplateOptions => ({
    ...options,
    variables: bundleVariables[key],
    path: [...options.path, key, ...rest],
  });
  const { inputs, result, catches } = entry;
  return {
    inputs: inputs === undefined ? undefined : compileTemplate(inputs, at("inputs")),
    result: result === undefined ? undefined : compileTemplate(result, at("result")),
    catches: (Array.isArray(catches) ? catches : []).flatMap((one: unknown, index) =>
      isRecord(one) ? [compileCatch(one, (key) => at("catches", index, key))] : [],
    ),
  };
}
