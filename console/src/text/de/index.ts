import type { Text } from "../en";
import { agents } from "./agents";
import { app } from "./app";
import { companies } from "./companies";
import { contexts } from "./contexts";
import { eventFields, events } from "./events";
import { failures, faults, reasons } from "./faults";
import { identity } from "./identity";
import { keys } from "./keys";
import { operations } from "./operations";
import { people } from "./people";
import { rights } from "./rights";
import { session } from "./session";
import { problems, ui } from "./ui";
import { webhooks } from "./webhooks";

export const de: Text = {
  agents,
  app,
  companies,
  contexts,
  eventFields,
  events,
  failures,
  faults,
  identity,
  keys,
  operations,
  people,
  problems,
  reasons,
  rights,
  session,
  ui,
  webhooks,
};
