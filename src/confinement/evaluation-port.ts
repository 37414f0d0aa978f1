import type { Problem } from "../problems/index.ts";

// The only access of inspection to a pack's code: definition files are evaluated in another process and return data.

/** How a pack's code was confined while it was evaluated; `"data"`: no code was evaluated. */
export type Confinement = "data" | "permission" | "permission+netns" | "none";

/** The result for one file. The position counts from 1 and is in that file. */
export type EvaluatedFile =
  | { value: unknown }
  | {
      reason: string;
      /** The package that was not found, if that is the reason. */
      missingPackage?: string | undefined;
      /** The file is written in the other format: as CommonJS or as an ES module. */
      cause?: "commonJs" | "esModule";
      /** The problem, if the file was not evaluated for another reason than its contents. */
      problem?: Problem;
      line?: number;
      column?: number;
    };

export interface EvaluationRequest {
  /** Folder of the pack. */
  packageRoot: string;
  /** Absolute paths inside it. The caller decides which formats are allowed. */
  files: readonly string[];
}

export interface Evaluation {
  /** The weakest confinement of all files. */
  confinement: Confinement;
  /** By path as in the request. Values are plain data; a function appears as `{ "$function": name }`. */
  results: ReadonlyMap<string, EvaluatedFile>;
}

export interface EvaluationPort {
  /** Evaluates the files of one pack, in order, in a confined child process. Errors become reasons. */
  evaluate(request: EvaluationRequest): Promise<Evaluation>;
}
