import { Environment } from "@marcbachmann/cel-js";

/** CEL with optional access (`.?`), every variable allowed: which ones there are depends on where it stands. */
const environment = new Environment({ unlistedVariablesAreDyn: true, enableOptionalTypes: true });

/** Why an expression does not compile; `undefined` if it does. Parses only: nothing is evaluated. */
export function whyNotCompiled(expression: string): string | undefined {
  if (expression === "") return "it is empty";
  try {
    environment.parse(expression);
    return undefined;
  } catch (error) {
    const [first = "it is not CEL"] = (error instanceof Error ? error.message : String(error)).split("\n");
    return first;
  }
}
