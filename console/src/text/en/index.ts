import { app } from "./app";
import { companies } from "./companies";
import { keys } from "./keys";
import { people } from "./people";
import { session } from "./session";
import { problems, ui } from "./ui";
import { webhooks } from "./webhooks";

export const en = {
  app,
  companies,
  keys,
  people,
  problems,
  session,
  ui,
  webhooks,
};
