import { type Problem, TrailblazeError } from "../../src/problems/index.ts";

/** The problem that ends some work. */
export async function failureOf(work: Promise<unknown>): Promise<Problem> {
  try {
    await work;
  } catch (error) {
    if (error instanceof TrailblazeError) return error.problem;
    throw error;
  }
  throw new Error("the work succeeded");
}
