/** The part of Ajv that is used here. */
export interface Ajv {
  compile(schema: object): { (value: unknown): unknown; errors?: object[] | null };
  errorsText(errors: object[] | null | undefined): string;
}

/** Checks for the JSON Schema drafts that the host supports. */
export interface Drafts {
  draft07: Ajv;
  draft2020: Ajv;
}

/** Why a value does not match a schema, with the place; `undefined` if it does. */
export type Check = (schema: object, value: unknown) => string | undefined;

/** Compiles each schema once. For an invalid schema, each check returns the reason. */
export function createChecker(drafts: Drafts): Check {
  const compiled = new WeakMap<object, (value: unknown) => string | undefined>();
  return (schema, value) => {
    const check = compiled.get(schema) ?? compile(drafts, schema);
    compiled.set(schema, check);
    return check(value);
  };
}

function compile({ draft07, draft2020 }: Drafts, schema: object): (value: unknown) => string | undefined {
  // Ajv rejects unknown drafts and repeated ids.
  const { $schema, $id: _, ...unnamed } = schema as { $schema?: unknown; $id?: unknown };
  const ajv = /\/draft-0[467]\//.test(String($schema)) ? draft07 : draft2020;
  try {
    const validate = ajv.compile(unnamed);
    return (value) => (validate(value) ? undefined : describe(ajv.errorsText(validate.errors)));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return () => `the schema is not valid: ${reason}`;
  }
}

/** The message in the host's form. Ajv starts each place with `data`, which callers do not know. */
function describe(message: string): string {
  const parts = message.split(", ").map((part) => {
    const here = part.replace(/^data(?=[/ ])/, "").trim();
    return here.replace(/^(\/\S*)? ?must have required property '(.+)'$/, "$1/$2 is required");
  });
  return parts.join("; ");
}
