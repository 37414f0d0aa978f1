import type { EvaluationPort } from "../confinement/evaluation-port.ts";
import { PackagePolicy } from "../discovery/package-policy.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { type Problem, TrailblazeError } from "../problems/index.ts";

/** The ports of inspection for this machine. Loads the evaluator only if there is code to evaluate. */
export function createInspectionPorts(): InspectionPorts {
  const port = createNodeInspectionPort();
  return {
    port,
    async createEvaluator(options) {
      const { createConfinedEvaluator } = await import("../confinement/confined-evaluator.ts");
      const unconfined = (await PackagePolicy.read(port)).findUnconfined();
      if (unconfined === undefined || options.requireConfinement) return createConfinedEvaluator(options);
      return refuseUnconfined(createConfinedEvaluator({ ...options, requireConfinement: true }), unconfined);
    },
  };
}

/** Evaluates nothing without confinement: each file then has the problem. */
function refuseUnconfined(evaluator: EvaluationPort, problem: Problem): EvaluationPort {
  return {
    async evaluate(request) {
      try {
        return await evaluator.evaluate(request);
      } catch (error) {
        if (!(error instanceof TrailblazeError) || error.code !== "ConfinementUnavailable") throw error;
        const refused = { reason: problem.message, problem };
        return { confinement: "data", results: new Map(request.files.map((file) => [file, refused])) };
      }
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
