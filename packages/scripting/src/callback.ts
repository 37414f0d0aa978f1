// The callback of a subprocess server to its host while a call is under way: `POST {baseUrl}/scripting/callback` with
// `Content-Type: application/json` and `Authorization: Bearer <token>`, the token from TRAILBLAZE_SESSION_TOKEN.
// Version 1, in snake case throughout. Status codes other than 200 say that the request was not understood or not
// allowed; every failure of a request that was is in the response.

/** Calls a tool of the session. Its arguments are JSON text of an object, so that they mean what its schema says. */
export type CallToolAction = { type: "call_tool"; tool_name: string; arguments_json: string };

/** What a callback can ask for. */
export type CallbackAction = CallToolAction;

/** The body of a callback. */
export type CallbackRequest = {
  version: 1;
  /** `sessionId` of the call under way. */
  session_id: string;
  /** `invocationId` of the call under way. */
  invocation_id: string;
  action: CallbackAction;
};

export type CallbackResult =
  | {
      type: "call_tool_result";
      /** False if the tool failed, does not exist, took too long or was called too deep, or its arguments do not fit. */
      success: boolean;
      /** The first text block, else "". */
      text_content: string;
      /** Why it failed, else "". */
      error_message: string;
      structured_content?: { [key: string]: unknown };
    }
  /** Another version, an unknown action, session or invocation, or one that is over. */
  | { type: "error"; message: string };

/** The answer to a callback. */
export type CallbackResponse = { result: CallbackResult };
