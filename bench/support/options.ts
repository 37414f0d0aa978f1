import { parseArgs } from "node:util";

export interface BenchmarkOptions {
  rounds: number;
  /** Compare user and system time instead of wall time. */
  cpu: boolean;
}

/** Reads `[NAME…] [--rounds N] [--cpu]`. */
export function readCommandLine(args: readonly string[]): { names: string[]; options: BenchmarkOptions } {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      rounds: { type: "string", default: "11" },
      cpu: { type: "boolean", default: false },
    },
  });
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`"${values.rounds}" is no number of rounds`);
  return { names: positionals, options: { rounds, cpu: values.cpu } };
}
