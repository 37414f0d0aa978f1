import type { Check } from "../finding.ts";
import { checkPackageManifest } from "./package-manifest.ts";

/** Every check, in the order in which problems are reported. */
export const checks: readonly Check[] = [checkPackageManifest];
