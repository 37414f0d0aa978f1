// The callback of a subprocess server to its host during a call: `POST {baseUrl}/scripting/callback` with
// `Content-Type: application/json` and `Authorization: Bearer <token>`, the token from TRAILBLAZE_SESSION_TOKEN.
// Version 1, with keys in snake case. A status other than 200 means that the request is invalid or not allowed; all
// other failures are in the response.

/** Calls a tool of the session. Its arguments are the JSON text of an object. */
export type CallToolAction = { type: "call_tool"; tool_name: string; arguments_json: string };

/** The actions of a callback. */
export type CallbackAction = CallToolAction;

/** The body of a callback. */
export type CallbackRequest = {
  version: 1;
  /** `sessionId` of the current call. */
  session_id: string;
  /** `invocationId` of the current call. */
  invocation_id: string;
  action: CallbackAction;
};

/** The outcome of a call, or why the host refused the request. */
export type CallbackResult =
  | {
      type: "call_tool_result";
      /** False if the tool failed, does not exist, timed out, was nested too deeply, or got invalid arguments. */
      success: boolean;
      /** The first text block, otherwise "". */
      text_content: string;
      /** Why the call failed, otherwise "". */
      error_message: string;
      structured_content?: { [key: string]: unknown };
    }
  /** An unsupported version or action, or an unknown or ended session or invocation. */
  | { type: "error"; message: string };

/** The answer to a callback. */
export type CallbackResponse = { result: CallbackResult };
