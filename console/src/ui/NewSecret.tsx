import { Alert, Button, Radio, Stack } from "@mantine/core";
import "@mantine/core/styles/Radio.css";
import { type ReactNode, useState } from "react";
import { useText } from "../text";
import { Problem } from "./Problem";
import { useSubmit } from "./useSubmit";

export interface NewSecretProps {
  /** What the secret of today does for a day, and what becomes of it at once. */
  words: { overlap: string; overlapHint: string; nowHint: string; nowWarning: string };
  close: () => void;
  /** Makes the new secret; overlap leaves the one of today in force for a day. */
  make: (overlap: boolean) => Promise<void>;
  /** Where the buttons stand. */
  foot: (buttons: ReactNode) => ReactNode;
}

/** Asks what is to become of the present secret, before there is a new one. */
export function NewSecret({ words, close, make, foot }: NewSecretProps) {
  const { text } = useText();
  const [how, setHow] = useState("overlap");
  const overlap = how === "overlap";
  const submit = useSubmit(() => make(overlap));
  return (
    <form onSubmit={submit.onSubmit}>
      <Stack>
        <Problem error={submit.error} />
        <Radio.Group label={text.ui.oldSecret} value={how} onChange={setHow}>
          <Stack gap="xs" mt={4}>
            <Radio value="overlap" label={words.overlap} description={words.overlapHint} />
            <Radio value="now" label={text.ui.oldSecretEnds} description={words.nowHint} />
          </Stack>
        </Radio.Group>
        {!overlap && <Alert color="red">{words.nowWarning}</Alert>}
        {foot(
          <>
            <Button type="submit" {...(overlap ? {} : { color: "red.9" })} loading={submit.busy}>{text.ui.makeSecret}</Button>
            <Button variant="default" onClick={close}>{text.ui.cancel}</Button>
          </>,
        )}
      </Stack>
    </form>
  );
}
