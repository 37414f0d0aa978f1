import { catalog, formatProblem, type Problem } from "../../src/problems/index.ts";
import { expectThat } from "./part.ts";

/** What must never reach a terminal raw; line ends are the format's own. */
const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/;

/** Every problem has a code of the catalog, is data, and can be shown. */
export function checkProblems(problems: readonly Problem[]): void {
  for (const problem of problems) {
    expectThat(Object.hasOwn(catalog, problem.code), () => `there is no code ${problem.code}`);
    JSON.stringify(problem);
    const shown = formatProblem(problem);
    const control = controls.exec(shown);
    expectThat(control === null, () => {
      const code = shown.codePointAt(control?.index ?? 0)?.toString(16);
      return `${problem.code} shows the character U+${code}: ${JSON.stringify(shown)}`;
    });
  }
}
