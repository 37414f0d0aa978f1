// What the SDK's server imports for each runtime, without its validator of JSON Schema: the build uses this in its place.
import nodeProcess from "node:process";

/** Nothing of a client is checked against a schema by the SDK. */
export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error("The server has no schemas.");
  }
}

/** @public The SDK imports it. */
export const process = nodeProcess;
