// Placeholder until the evaluator lands; its owner may overwrite it.
import type { EvaluationPort } from "./evaluation-port.ts";

export function createConfinedEvaluator(_options: { requireConfinement?: boolean } = {}): EvaluationPort {
  throw new Error("not there yet");
}
