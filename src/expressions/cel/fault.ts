/**
 * Thrown inside the evaluator; the engine makes an `ExpressionError` of it. No `Error`: one that `||` or `exists`
 * absorbs must not cost a look at the stack.
 */
export class CelFault {
  readonly message: string;
  /** Where in the expression. */
  offset: number | undefined;

  constructor(message: string, offset?: number) {
    this.message = message;
    this.offset = offset;
  }
}

/** Runs work, and says where in the expression it failed if the fault does not know. */
export function locating<T>(offset: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof CelFault) error.offset ??= offset;
    throw error;
  }
}
