import { Code, Group, List, SegmentedControl, Skeleton, Stack, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk } from "../graph/hooks";
import { useText } from "../text";
import { CopyText } from "../ui/CopyText";
import { Problem } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { codeOf, type Language, languages, secretName } from "./code";
import { useDestination } from "./useDestination";
import { Destination } from "./webhooks.gql";

/** How a receiver tells that a delivery is the platform's, in code to take along. */
export function Verify() {
  const { text } = useText();
  const { id, to } = useDestination();
  const navigate = useNavigate();
  const { data, error, again } = useAsk(Destination, { id });
  const [language, setLanguage] = useState<Language>("Go");
  const destination = data?.webhookDestination;
  const code = destination && codeOf(language, destination);
  return (
    <SidePanel title={text.webhooks.verify} close={() => navigate(to)}>
      <Stack>
        <Problem error={error} again={again} />
        {!destination && !error && <Skeleton height={300} />}
        {destination && code && (
          <>
            <Text size="sm">{text.webhooks.verifyHint[destination.signing]}</Text>
            <List size="sm" spacing={4}>{text.webhooks.verifyRules.map((rule) => <List.Item key={rule}>{rule}</List.Item>)}</List>
            <Group justify="space-between">
              <SegmentedControl transitionDuration={0} aria-label={text.webhooks.language} value={language} data={[...languages]} onChange={(value) => setLanguage(value as Language)} />
              <CopyText value={code} />
            </Group>
            <pre className="wire" tabIndex={0} aria-label={text.webhooks.verifyCode(language)}>{code}</pre>
            <Text size="sm" c="dimmed">{text.webhooks.verifySecret} <Code>{secretName(destination)}</Code></Text>
          </>
        )}
      </Stack>
    </SidePanel>
  );
}
