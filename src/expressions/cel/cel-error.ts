/**
 * Thrown inside the evaluator; the engine converts it to an `ExpressionError`. Not an `Error`, because `||` and `exists`
 * catch it and capturing stack traces is slow.
 */
export class CelError {
  readonly message: string;
  /** Position in the expression, in UTF-16 code units. */
  offset: number | undefined;

  constructor(message: string, offset?: number) {
    this.message = message;
    this.offset = offset;
  }
}

/** Adds the offset to a `CelError` of `work` that has none. */
export function locating<T>(offset: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof CelError) error.offset ??= offset;
    throw error;
  }
}
