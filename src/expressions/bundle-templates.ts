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

/** The keys of an entry whose strings may contain templates. */
export const templateKeys = ["inputs", "result", "catches"] as const;

const call = { name: true, arguments: true } as const;
const request: Shape = {
  ...call,
  meta: true,
  session: { id: true, clientInfo: true, capabilities: true },
};
const error: Shape = { code: true, message: true, data: true };

/** The variables of an entry's templates, by key. */
export const bundleVariables: Readonly<Record<(typeof templateKeys)[number], Variables>> = {
  inputs: { request },
  result: { result: true, request: call },
  catches: { error, request },
};

/** A compiled element of `catches`. */
export interface CatchTemplates {
  /** The error code that it catches; `undefined` for any. */
  code: string | undefined;
  when: Template | undefined;
  /** Evaluates to the error to return: `code`, `message`, `data`. */
  error: Template;
}

/** The compiled templates of an entry. */
export interface EntryTemplates {
  inputs: Template | undefined;
  result: Template | undefined;
  catches: readonly CatchTemplates[];
}

/**
 * Compiles the templates of a bundle's entry at `path`. Reports every fault. Ignores values of the wrong shape, which are
 * faults of the definition.
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
    catches: (Array.isArray(catches) ? catches : []).flatMap((one: unknown, index): CatchTemplates[] => {
      if (!isRecord(one)) return [];
      const { code, when, error } = one;
      return [
        {
          code: typeof code === "string" || typeof code === "number" ? String(code) : undefined,
          when: typeof when === "string" ? compileCondition(when, at("catches", index, "when")) : undefined,
          error: compileTemplate(error, at("catches", index, "error")),
        },
      ];
    }),
  };
}
