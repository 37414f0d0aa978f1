// What a handler asks the client's user, and the answers.

/** A property of a form: what a user can type or choose. `enum` and `oneOf` make a choice of one, `array` of several. */
export type FormProperty = {
  type: "string" | "number" | "integer" | "boolean" | "array";
  enum?: readonly string[];
  [keyword: string]: unknown;
};

/** The schema of a form: one flat object. */
export type FormSchema = {
  type: "object";
  properties: { readonly [name: string]: FormProperty };
  required?: readonly string[];
  [keyword: string]: unknown;
};

/** What a handler asks the client's user, or the client, before it can answer. */
export type InputRequest =
  /** A form. */
  | { message: string; schema: FormSchema }
  /** A page for the user to visit, with an http or https URL. */
  | { message: string; url: string }
  /** A request of MCP to the client. */
  | { method: "sampling/createMessage" | "roots/list"; params?: { [name: string]: unknown } };

/** Requests by keys of your choice, which come back with the answers. */
export type InputRequests = { [key: string]: InputRequest };

/**
 * The answer to a request. `content` only with `accept`: values that match the form's schema, or the result of a request
 * of MCP. An answer that does not match is a `decline`.
 */
export type InputAnswer = {
  action: "accept" | "decline" | "cancel";
  // biome-ignore lint/suspicious/noExplicitAny: handlers know the schema that they asked with
  content?: { [name: string]: any };
};

/** Answers by the keys of their requests. */
export type InputAnswers = { readonly [key: string]: InputAnswer | undefined };

/** What a handler returns to ask. */
export type NeededInput = { requests: InputRequests; state?: unknown };
