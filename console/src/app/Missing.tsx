import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import { useTitle } from "../ui/Page";

/** What is at an address where nothing is. */
export function Missing() {
  const { text } = useText();
  useTitle(text.app.notFound);
  return <main><Empty title={text.app.notFound} hint={text.app.notFoundHint} action={<Anchor component={Link} to="/">{text.app.toHome}</Anchor>} /></main>;
}
