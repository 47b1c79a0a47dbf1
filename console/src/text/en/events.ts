/** What events tell, by their names; the platform says it in English itself, of those as well that it will know later. */
export const events: Record<string, string> = {};

/** What the fields of an event are, by their names. */
export const eventFields: Record<string, string> = {};
