import type { EvaluationPort } from "../confinement/evaluation-port.ts";
import type { InspectionPort } from "../files/inspection-port.ts";

/** How definitions that are code are treated. */
export interface ConfinementOptions {
  /** Throw `ConfinementUnavailable` rather than evaluate code unconfined. */
  requireConfinement?: boolean;
  /** Refuse definitions that are code. */
  dataOnly?: boolean;
}

/** The ports that inspection works through. */
export interface InspectionMeans {
  port: InspectionPort;
  createEvaluator: (options: ConfinementOptions) => Promise<EvaluationPort>;
}
