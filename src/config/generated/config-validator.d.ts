import type { Validator } from "../../extension-schema/validator.ts";

/** The keys of each object, by the keys that lead to it, joined by dots, without names of servers; `""` is the config. */
export declare const knownKeys: Readonly<Record<string, readonly string[]>>;

export declare const validateConfig: Validator;
