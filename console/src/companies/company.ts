import type { CompanyResult } from "./companies.gql";

/** A company as its panel shows it. */
export type Whole = NonNullable<CompanyResult["customer"]>;
