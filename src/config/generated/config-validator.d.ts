import type { Validator } from "../../extension-schema/validator.ts";

/** The keys of each closed object, by the JSON pointer of the rule that closes it. */
export declare const knownKeys: Readonly<Record<string, readonly string[]>>;

export declare const validateConfig: Validator;
