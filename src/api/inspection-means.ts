import type { InspectionMeans } from "../definitions/inspect.ts";
import { createNodeInspectionPort } from "../io/node-inspection-port.ts";

/** The means of inspection on this machine, each loaded only where it is needed. */
export function createInspectionMeans(): InspectionMeans {
  return {
    port: createNodeInspectionPort(),
    async createEvaluator(options) {
      const { createConfinedEvaluator } = await import("../io/confined-evaluator.ts");
      return createConfinedEvaluator(options);
    },
    async createPacking() {
      const { createNpmPacking } = await import("../io/npm-packing.ts");
      return createNpmPacking();
    },
  };
}
