import { Group } from "@mantine/core";
import { useChange } from "../graph/hooks";
import { useText } from "../text";
import { Dialog } from "../ui/Dialog";
import { NewSecret as Form } from "../ui/NewSecret";
import { RotateKey, type RotateKeyResult } from "./keys.gql";
import type { ApiKey } from "./useKeys";

/** A key's new secret, and until when the one of before still works. */
export type Made = NonNullable<RotateKeyResult["rotateApiKeySecret"]>;

/** Asks what becomes of a key's secret, and gives it another one. */
export function NewSecret({ of: { id, name, clientId }, close, made }: { of: ApiKey; close: () => void; made: (secret: Made) => void }) {
  const { text } = useText();
  const rotate = useChange(RotateKey);
  const make = async (overlap: boolean) => {
    const { rotateApiKeySecret } = await rotate({ input: { id, ...(overlap ? {} : { graceSeconds: 0 }) } });
    made(rotateApiKeySecret!);
    close();
  };
  return (
    <Dialog title={text.keys.rotateTitle(name || clientId)} close={close}>
      <Form words={text.keys.rotation} close={close} make={make} foot={(buttons) => <Group>{buttons}</Group>} />
    </Dialog>
  );
}
