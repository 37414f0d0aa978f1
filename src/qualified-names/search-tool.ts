/** The name of the tool that searches for others. Reserved where it is offered. */
export const searchToolName = "search_tools";

/** With more tools than this, a model gets the search instead, unless the host says another number. */
export const defaultAbove = 30;
