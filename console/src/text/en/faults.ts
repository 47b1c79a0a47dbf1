/** What the platform refuses, by the reasons that it names for programs; it says it in English itself. */
export const reasons: Record<string, string> = {};

/** What is wrong with one field, by the platform's own words, with # for each number in them. */
export const faults: Record<string, string> = {};
