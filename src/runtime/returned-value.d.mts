/** What a handler returned, read once; none of its code runs afterwards. */
export type Returned =
  | { kind: "nothing" }
  | { kind: "text"; text: string }
  /** Any other value that JSON can represent, as JSON text. */
  | { kind: "json"; json: string }
  /** A value of `needInput`: what to ask, as JSON text. */
  | { kind: "input"; json: string }
  /** `bytes`: what the value was, in base64. Only resources can use them. */
  | { kind: "refused"; message: string; bytes?: string };

/** What a handler threw. `data` is JSON text. */
export interface Thrown {
  message: string;
  code?: string | number;
  data?: string;
}

export function toJson(value: unknown): { json: string; refusal?: never } | { refusal: string; json?: never };
export function describeReturned(value: unknown): Returned;
export function describeThrown(thrown: unknown): Thrown;
export function toLogData(value: unknown): unknown;
export function toArgumentsJson(args: unknown): string;
export function checkProgress(progress: unknown, total: unknown, message: unknown): void;
