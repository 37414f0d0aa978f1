import type { Random } from "../../bench/support/random.ts";

/** What a part works with. */
export interface Room {
  /** A folder of its own, absolute and without links, which is removed at the end. */
  folder: string;
}

/** An opened part. A step rejects with a `Broken`, or with what it did not expect. */
export interface Steps {
  /** Does one step; the same random numbers make the same step. Returns what to count, by its name. */
  step(random: Random): Promise<Readonly<Record<string, number>>>;
  close(): Promise<void>;
}

/** One promise of the software, and the steps that try to break it. */
export interface Part {
  /** The steps at full scale. */
  steps: number;
  /** How long a step may take, in milliseconds; a longer one is repeated, because the machine may be busy. Default: 1,000. */
  limitMs?: number;
  open(room: Room): Promise<Steps>;
}

/** A promise that a step found broken. */
export class Broken extends Error {
  override readonly name = "Broken";
}

export function expectThat(holds: boolean, otherwise: () => string): asserts holds {
  if (!holds) throw new Broken(otherwise());
}
