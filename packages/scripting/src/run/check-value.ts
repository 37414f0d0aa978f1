/** What of the SDK's validator is used here. */
interface Validator {
  getValidator(schema: object): (value: unknown) => { valid: boolean; errorMessage?: string | undefined };
}

/** What is wrong with a value, naming the place; `undefined` if nothing is. */
export type Check = (schema: object, value: unknown) => string | undefined;

/** Compiles each schema once. A schema that cannot be used is at fault itself, and says so. */
export function createChecker(validator: Validator): Check {
  const compiled = new WeakMap<object, ReturnType<Validator["getValidator"]>>();
  return (schema, value) => {
    let validate = compiled.get(schema);
    if (validate === undefined) {
      try {
        validate = validator.getValidator(withoutNames(schema));
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        validate = () => ({ valid: false, errorMessage: `the schema cannot be used: ${reason}` });
      }
      compiled.set(schema, validate);
    }
    const { valid, errorMessage } = validate(value);
    return valid ? undefined : describe(errorMessage);
  };
}

/** Without the names that the validator would look up, or keep: drafts it does not know, and ids used twice. */
function withoutNames(schema: object): object {
  const { $schema: _, $id: __, ...rest } = schema as { $schema?: unknown; $id?: unknown };
  return rest;
}

/** In the words of a host. The validator begins each place with `data`, which nobody who called the tool knows of. */
function describe(message = "it does not fit its schema"): string {
  const parts = message.split(", ").map((part) => {
    const here = part.replace(/^data(?=[/ ])/, "").trim();
    return here.replace(/^(\/\S*)? ?must have required property '(.+)'$/, "$1/$2 is required");
  });
  return parts.join("; ");
}
