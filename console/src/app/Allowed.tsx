import { Button, Code } from "@mantine/core";
import { Link, useMatches } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { type Right, useMe } from "../session/rights";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import { PageHead } from "../ui/Page";

declare module "@tanstack/react-router" {
  interface StaticDataRouteOption {
    /** The right without which there is nothing at an address. */
    needs?: Right;
  }
}

/** What is at an address, for who may see it; others, who have come by a link of somebody else's, are told what they lack. */
export function Allowed({ children }: { children: ReactNode }) {
  const { text } = useText();
  const me = useMe();
  const lacks = useMatches({ select: (matches) => matches.flatMap(({ staticData: { needs } }) => (needs && !me.can(needs) ? needs : []))[0] });
  if (!lacks) return children;
  return (
    <>
      <PageHead title={text.app.notAllowed} />
      <Empty title={text.app.lacks} hint={text.app.lacksHint} action={<><Code>{lacks}</Code><Button component={Link} to="/" variant="default">{text.app.toHome}</Button></>} />
    </>
  );
}
