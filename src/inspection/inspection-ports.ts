import type { EvaluationPort } from "../confinement/evaluation-port.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";

/** The ports of inspection on this machine; the evaluator is loaded only if there is code to evaluate. */
export function createInspectionPorts(): InspectionPorts {
  return {
    port: createNodeInspectionPort(),
    async createEvaluator(options) {
      const { createConfinedEvaluator } = await import("../confinement/confined-evaluator.ts");
      return createConfinedEvaluator(options);
    },
  };
}

/** How definitions that are code are treated. */
export interface ConfinementOptions {
  /** Throw `ConfinementUnavailable` rather than evaluate code unconfined. */
  requireConfinement?: boolean;
  /** Refuse definitions that are code. */
  dataOnly?: boolean;
}

/** The ports that inspection works through. */
export interface InspectionPorts {
  port: InspectionPort;
  createEvaluator: (options: ConfinementOptions) => Promise<EvaluationPort>;
}
