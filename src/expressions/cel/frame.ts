import type { EvaluationBudget } from "../evaluation-budget.ts";
import type { Variables } from "../expression-engine.ts";
import type { CelNode } from "./parse-cel.ts";

/** What an evaluation works on. */
export interface Frame {
  scope: Readonly<Record<string, unknown>>;
  /** Variables of loops and of `cel.bind`, by place. */
  locals: unknown[];
  budget: EvaluationBudget;
}

/** A compiled part of an expression. Throws `CelFault`. */
export type Run = (frame: Frame) => unknown;

/** What may be named where a part of an expression stands. */
export interface Surroundings {
  variables: Variables;
  /** Places of local variables in the frame. */
  locals: ReadonlyMap<string, number>;
  /** How many places are taken. */
  places: number;
  /** How many parts of the expression are around. */
  depth: number;
  /** How many loops are around. */
  loops: number;
}

export type Compile = (node: CelNode, around: Surroundings) => Run;
