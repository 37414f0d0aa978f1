import type { EvaluationBudget } from "../evaluation-budget.ts";
import type { Variables } from "../expression-engine.ts";
import type { CelNode } from "./parse-cel.ts";

/** The state of an evaluation. */
export interface Frame {
  scope: Readonly<Record<string, unknown>>;
  /** Variables of loops and of `cel.bind`, by slot. */
  locals: unknown[];
  budget: EvaluationBudget;
}

/** A compiled part of an expression. Throws `CelError`. */
export type Run = (frame: Frame) => unknown;

/** The static context of a part of an expression. */
export interface CompileContext {
  variables: Variables;
  /** Slots of local variables in the frame. */
  locals: ReadonlyMap<string, number>;
  /** The number of slots in use. */
  slots: number;
  /** The number of enclosing parts. */
  depth: number;
  /** The number of enclosing loops. */
  loops: number;
}

export type Compile = (node: CelNode, context: CompileContext) => Run;
