// How inspection has a pack's code evaluated: elsewhere, confined, and brought back as data.

/** What confined the evaluation: nothing to confine, Node's permission model, that without a network, or nothing. */
export type Confinement = "data" | "permission" | "permission+netns" | "none";

/** The data that a file evaluated to, or why there is none. */
export type EvaluatedFile = { value: unknown } | { reason: string; line?: number; column?: number };

export interface Evaluation {
  confinement: Confinement;
  /** By the absolute path that was asked for. */
  results: ReadonlyMap<string, EvaluatedFile>;
}

export interface EvaluationPort {
  /** One confined child for a pack; `files` are absolute real paths inside `packageRoot`, a real path itself. */
  evaluate(request: { packageRoot: string; files: readonly string[] }): Promise<Evaluation>;
}
