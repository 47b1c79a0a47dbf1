export interface PeopleSearch {
  find?: string | undefined;
  /** The company whose people are shown; those of all within reach without it. */
  company?: number | undefined;
  password?: "yes" | "no" | undefined;
}
