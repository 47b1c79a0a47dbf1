import { Stack } from "@mantine/core";
import { useLocation } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import { useText } from "../text";
import { PageHead } from "../ui/Page";
import { Address } from "./Address";
import { Erase } from "./Erase";
import { Invitations } from "./Invitations";
import { Leave } from "./Leave";
import { Name } from "./Name";
import { Passkeys } from "./Passkeys";
import { Password } from "./Password";
import { SessionList } from "./SessionList";
import type { Section } from "./sections";
import { TwoFactor } from "./TwoFactor";

/** One's own account. */
export function Profile() {
  const { text } = useText();
  return (
    <Stack maw="46rem" gap="xl">
      <PageHead title={text.session.profile} />
      <Invitations />
      <Part id="name"><Name /></Part>
      <Part id="sessions"><SessionList /></Part>
      <Part id="passkeys"><Passkeys /></Part>
      <Part id="two-factor"><TwoFactor /></Part>
      <Part id="password"><Password /></Part>
      <Part id="address"><Address /></Part>
      <Part id="companies"><Leave /></Part>
      <Part id="erase"><Erase /></Part>
    </Stack>
  );
}

/** A part with an address of its own, which comes into view where that was opened. */
function Part({ id, children }: { id: Section; children: ReactNode }) {
  const part = useRef<HTMLDivElement>(null);
  const here = useLocation({ select: ({ hash }) => hash === id });
  useEffect(() => {
    if (!here) return;
    part.current?.scrollIntoView();
    part.current?.focus({ preventScroll: true });
  }, [here]);
  return <div ref={part} id={id} tabIndex={-1}>{children}</div>;
}
