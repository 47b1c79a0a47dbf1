import { Alert, Button, Radio, Stack, Text } from "@mantine/core";
import "@mantine/core/styles/Radio.css";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { useText } from "../text";
import { Foot } from "../ui/Foot";
import { Problem } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { useSubmit } from "../ui/useSubmit";
import { Secret } from "./Secret";
import { useDestination } from "./useDestination";
import { Destination, RotateSecret } from "./webhooks.gql";

/** Gives a destination a new secret: with a day in which both sign, or at once. */
export function Rotate() {
  const { text } = useText();
  const { id, to } = useDestination();
  const navigate = useNavigate();
  const { data } = useAsk(Destination, { id });
  const rotate = useChange(RotateSecret);
  const [how, setHow] = useState("overlap");
  const [secret, setSecret] = useState<string>();
  const overlap = how === "overlap";
  const close = () => navigate(to);
  const submit = useSubmit(async () => {
    const { rotateWebhookSecret } = await rotate({ input: { id, overlap } });
    setSecret(rotateWebhookSecret!.secret);
  });
  return (
    <SidePanel title={text.webhooks.rotate} close={close}>
      {secret ? (
        <Stack>
          <Text size="sm">{overlap ? text.webhooks.rotatedOverlap : text.webhooks.rotatedNow}</Text>
          <Secret secret={secret} url={data?.webhookDestination?.url} done={close} />
        </Stack>
      ) : (
        <form onSubmit={submit.onSubmit}>
          <Stack>
            <Problem error={submit.error} />
            <Radio.Group label={text.webhooks.rotateHow} value={how} onChange={setHow}>
              <Stack gap="xs" mt={4}>
                <Radio value="overlap" label={text.webhooks.rotateOverlap} description={text.webhooks.rotateOverlapHint} />
                <Radio value="now" label={text.webhooks.rotateNow} description={text.webhooks.rotateNowHint} />
              </Stack>
            </Radio.Group>
            {!overlap && <Alert color="red">{text.webhooks.rotateNowWarning}</Alert>}
            <Foot>
              <Button type="submit" {...(overlap ? {} : { color: "red" })} loading={submit.busy}>{text.webhooks.rotateButton}</Button>
              <Button variant="default" onClick={close}>{text.ui.cancel}</Button>
            </Foot>
          </Stack>
        </form>
      )}
    </SidePanel>
  );
}
