import { companies } from "../companies/area";
import { contexts } from "../contexts/area";
import { keys } from "../keys/area";
import { people } from "../people/area";
import { webhooks } from "../webhooks/area";
import type { Area } from "./area";

/** The areas of the console, in the order of the main menu. */
export const areas: readonly Area[] = [
  companies,
  people,
  contexts,
  webhooks,
  keys,
];
