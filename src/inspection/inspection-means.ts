import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import type { InspectionMeans } from "./inspect.ts";

/** The means of inspection on this machine, each loaded only where it is needed. */
export function createInspectionMeans(): InspectionMeans {
  return {
    port: createNodeInspectionPort(),
    async createEvaluator(options) {
      const { createConfinedEvaluator } = await import("../confinement/confined-evaluator.ts");
      return createConfinedEvaluator(options);
    },
  };
}
