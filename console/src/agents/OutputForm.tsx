import { Stack, Text, Title } from "@mantine/core";
import { useText } from "../text";
import { PairsField, TextField } from "./fields";
import type { Change } from "./steps";
import type { Check } from "./useCheck";
import type { Json } from "./value";

/** What a run gives, as a form. */
export function OutputForm({ output, check, change }: { output: Json; check: Check | undefined; change: Change | undefined }) {
  const { text } = useText();
  const props = {
    value: output, set: change && ((value: Json | undefined) => change(({ steps }) => ({ steps, output: value ?? {} }))), check, place: "output",
  };
  return (
    <Stack gap="sm">
      <Title order={2} size="h5">{text.agents.output}</Title>
      <Text size="xs" c="dimmed">{text.agents.outputHint}</Text>
      {typeof output === "string" ? <TextField label={text.agents.expression} rows={3} {...props} /> : <PairsField label={text.agents.members} {...props} />}
    </Stack>
  );
}
