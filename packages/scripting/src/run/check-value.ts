/** The part of the SDK's validator that is used here. */
interface Validator {
  getValidator(schema: object): (value: unknown) => { valid: boolean; errorMessage?: string | undefined };
}

/** Why a value does not match a schema, with the place; `undefined` if it does. */
export type Check = (schema: object, value: unknown) => string | undefined;

/** Compiles each schema once. For an invalid schema, each check returns the reason. */
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

/** The schema without `$schema` and `$id`: the validator rejects unknown drafts and repeated ids. */
function withoutNames(schema: object): object {
  const { $schema: _, $id: __, ...rest } = schema as { $schema?: unknown; $id?: unknown };
  return rest;
}

/** The message in the host's form. The validator starts each place with `data`, which callers do not know. */
function describe(message = "it does not match its schema"): string {
  const parts = message.split(", ").map((part) => {
    const here = part.replace(/^data(?=[/ ])/, "").trim();
    return here.replace(/^(\/\S*)? ?must have required property '(.+)'$/, "$1/$2 is required");
  });
  return parts.join("; ");
}
