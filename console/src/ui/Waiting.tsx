import { Loader, type LoaderProps } from "@mantine/core";
import { useText } from "../text";

/** Says that something is on its way. */
export function Waiting(props: LoaderProps) {
  const { text } = useText();
  return <Loader role="status" aria-label={text.ui.loading} {...props} />;
}
