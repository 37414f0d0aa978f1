// What inspection may do with a pack's code, and nothing else: have definition files evaluated elsewhere, and get data.

/** What held a pack's code while it was evaluated; `"data"`: there was no code. */
export type Confinement = "data" | "permission" | "permission+netns" | "none";

/** What became of one file. A position counts from 1 and lies in that file. */
export type EvaluatedFile =
  | { value: unknown }
  | {
      reason: string;
      /** The package that could not be found, where that is the reason. */
      missingPackage?: string | undefined;
      line?: number;
      column?: number;
    };

export interface EvaluationRequest {
  /** Folder of the pack. */
  packageRoot: string;
  /** Absolute paths inside it. Whether a format is wanted at all is for the caller to decide. */
  files: readonly string[];
}

export interface Evaluation {
  /** The weakest that was in force while the files were evaluated. */
  confinement: Confinement;
  /** By path as asked for. Values are plain data; a function appears as `{ "$function": name }`. */
  results: ReadonlyMap<string, EvaluatedFile>;
}

export interface EvaluationPort {
  /** Evaluates the files of one pack, in order, in one confined child process. Faults become reasons. */
  evaluate(request: EvaluationRequest): Promise<Evaluation>;
}
