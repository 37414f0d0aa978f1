import type { EvaluationPort } from "../confinement/evaluation-port.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";

/** The ports of inspection for this machine. Loads the evaluator only if there is code to evaluate. */
export function createInspectionPorts(): InspectionPorts {
  const port = createNodeInspectionPort();
  return {
    port,
    async createEvaluator(options) {
      const { createConfinedEvaluator } = await import("../confinement/confined-evaluator.ts");
      return createConfinedEvaluator(options);
    },
  };
}

/** The treatment of definitions that are code. */
export interface ConfinementOptions {
  /** Throw `ConfinementUnavailable` instead of evaluating code without confinement. */
  requireConfinement?: boolean;
  /** Reject definitions that are code. */
  dataOnly?: boolean;
}

/** The ports of inspection. */
export interface InspectionPorts {
  port: InspectionPort;
  createEvaluator: (options: ConfinementOptions) => Promise<EvaluationPort>;
}
