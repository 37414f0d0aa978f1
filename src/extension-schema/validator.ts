/** What a generated validator says of one fault: the part of ajv's error object that is read here. */
export interface ValidatorError {
  /** JSON pointer into the data. */
  instancePath: string;
  /** JSON pointer into the schema. */
  schemaPath: string;
  keyword: string;
  params: Record<string, unknown>;
  message?: string;
}

/** A generated validator; `errors` belong to its last call. */
export interface Validator {
  (value: unknown): boolean;
  errors?: ValidatorError[] | null;
}
