/** An error answer, whose message is the server's, or an invalid answer. */
export class AnswerError extends Error {
  override readonly name = "AnswerError";
  /** The code of the server's error; `undefined` for an invalid answer. */
  readonly code: number | undefined;
  readonly data: unknown;

  constructor(message: string, code?: number, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}
