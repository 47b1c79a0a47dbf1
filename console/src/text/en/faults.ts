/** What the platform refuses, by the reasons that it names for programs; it says it in English itself. */
export const reasons: Record<string, string> = {};

/** Why an attempt of a delivery or a step of a run has failed, by the kind or the code of it; the platform says it in English itself. */
export const failures: Record<string, string> = {};

/** What is wrong with one field, by the platform's own words, with # for each number in them. */
export const faults: Record<string, string> = {};
