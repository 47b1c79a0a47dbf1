import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useChange } from "../graph/hooks";
import { useText } from "../text";
import { Foot } from "../ui/Foot";
import { NewSecret } from "../ui/NewSecret";
import { ShownOnce } from "../ui/ShownOnce";
import { SidePanel } from "../ui/SidePanel";
import { useDestination } from "./useDestination";
import { RotateSecret } from "./webhooks.gql";

/** Gives a destination a new secret: with a day in which both sign, or at once. */
export function Rotate() {
  const { text } = useText();
  const { id, to } = useDestination();
  const navigate = useNavigate();
  const rotate = useChange(RotateSecret);
  const [made, setMade] = useState<{ secret: string; overlap: boolean }>();
  const close = () => navigate(to);
  const make = async (overlap: boolean) => {
    const { rotateWebhookSecret } = await rotate({ input: { id, overlap } });
    setMade({ secret: rotateWebhookSecret!.secret, overlap });
  };
  return (
    <SidePanel title={text.webhooks.rotate} close={close}>
      {made ? (
        <ShownOnce
          title={text.webhooks.secretTitle} hint={<>{text.webhooks.secretOnce} {made.overlap ? text.webhooks.rotatedOverlap : text.webhooks.rotatedNow}</>}
          values={[[text.webhooks.secret, made.secret]]} kept={text.ui.secretKept} done={() => void close()}
        />
      ) : <NewSecret words={text.webhooks.rotation} close={() => void close()} make={make} foot={(buttons) => <Foot>{buttons}</Foot>} />}
    </SidePanel>
  );
}
