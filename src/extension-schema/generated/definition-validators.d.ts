import type { Validator } from "../validator.ts";

export declare const tool: Validator;
export declare const composedServer: Validator;
export declare const subprocessServer: Validator;
export declare const serverDocument: Validator;
export declare const toolsetList: Validator;
export declare const toolsBundle: Validator;
export declare const prompt: Validator;
export declare const resource: Validator;
