import type { Text } from "..";
import { app } from "./app";
import { companies } from "./companies";
import { people } from "./people";
import { session } from "./session";
import { problems, ui } from "./ui";
import { webhooks } from "./webhooks";

export const de: Text = { app, companies, people, problems, session, ui, webhooks };
