import type { Validator } from "../validator.ts";

/** What a draft of JSON Schema says of one keyword. */
export interface Keyword {
  /** Whether a value is one that the keyword takes. Schemas in it are told from other values, and not looked into. */
  fits: Validator;
  /** What `typeof` says of a value that fits, where that is the whole rule: the quicker way to the same answer. */
  simply: "string" | "boolean" | undefined;
  /** The value is a list in which nothing may be twice, which `fits` does not look at. */
  isUnique: boolean;
  /** Where the value holds schemas: it is one itself, a list of them, or an object of them. */
  holds: readonly ("itself" | "list" | "object")[];
}

/** Every keyword whose values have a rule, by draft. */
export declare const keywords: Readonly<Record<"draft2020" | "draft07", Readonly<Record<string, Keyword>>>>;
