import { createProblem, type ProblemCode } from "../../src/problems/index.ts";

/** Replaces every string and number inside a value. */
function mapLeaves(value: unknown, map: (leaf: string | number) => string | number): unknown {
  if (typeof value === "string" || typeof value === "number") return map(value);
  if (Array.isArray(value)) return value.map((one) => mapLeaves(one, map));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mapLeaves(one, map)]));
}

/** Message and hint, a line each; `undefined` for arguments that the code cannot have. */
export function render(code: ProblemCode, args: unknown): string | undefined {
  try {
    const { message, hint = "" } = createProblem(code, args as never);
    return `${message}\n${hint}`;
  } catch {
    return undefined;
  }
}

/** Matches message and hint of problems that differ from a sample only in strings and numbers that these show. */
export function patternOf(code: ProblemCode, sample: unknown): RegExp {
  let args = sample;
  let count = 0;
  mapLeaves(sample, () => ++count);
  for (let index = 0; index < count; index++) {
    let at = 0;
    const marked = mapLeaves(args, (leaf) => {
      if (at++ !== index) return leaf;
      // Keeps an extension and a question mark, because a message may depend on them.
      return typeof leaf === "number"
        ? 7_000_000 + index
        : `Shown${index}${/(?:\.[a-z]+|\?)$/.exec(leaf)?.[0] ?? ""}`;
    });
    if (new RegExp(`shown${index}|7,?000,?00${index}`, "i").test(render(code, marked) ?? "")) args = marked;
  }
  const text = (render(code, args) ?? "").replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${text.replaceAll(/shown\d(?:\\\.[a-z]+|\\\?)?|7,?000,?00\d/gi, ".+")}$`);
}
