import type { Validator } from "../validator.ts";
import type { Kind } from "../../kinds.ts";

/** The keys of the field, and of form 3 of each kind's declarations. */
export declare const knownKeys: Readonly<Record<"extension" | Kind, readonly string[]>>;

/** Form 3 of a declaration, each kind's own. Names and unknown keys are left to `parseExtension`. */
export declare const server: Validator;
export declare const tool: Validator;
export declare const toolset: Validator;
export declare const prompt: Validator;
export declare const resource: Validator;
