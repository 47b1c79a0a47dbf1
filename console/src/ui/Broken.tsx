import { Button, Center, Stack, Text, Title } from "@mantine/core";
import { useText } from "../text";

/** What a person sees of a fault of the console's own. */
export function Broken() {
  const { text } = useText();
  return (
    <Center mih="60dvh" component="main">
      <Stack align="center">
        <Title order={1} size="h3">{text.ui.broken}</Title>
        <Text c="dimmed">{text.ui.brokenHint}</Text>
        <Button onClick={() => location.reload()}>{text.ui.reload}</Button>
      </Stack>
    </Center>
  );
}
