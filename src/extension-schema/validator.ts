/** An error of a generated validator: the part of ajv's error object that we read. */
export interface ValidatorError {
  /** JSON pointer into the data. */
  instancePath: string;
  /** JSON pointer into the schema. */
  schemaPath: string;
  keyword: string;
  params: Record<string, unknown>;
  message?: string;
}

/** A generated validator; `errors` are those of the last call. */
export interface Validator {
  (value: unknown): boolean;
  errors?: ValidatorError[] | null;
}
