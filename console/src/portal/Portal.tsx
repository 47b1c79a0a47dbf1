import { Center, VisuallyHidden } from "@mantine/core";
import { Outlet } from "@tanstack/react-router";
import { Canopy, GivenToken } from "canopy-client";
import { type ReactNode, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { Provider } from "urql";
import { newClient } from "../graph/client";
import { useAsk } from "../graph/hooks";
import { has, MeContext } from "../session/rights";
import { Me } from "../session/session.gql";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import { useTitle } from "../ui/Page";
import { Problem } from "../ui/Problem";
import { Waiting } from "../ui/Waiting";
import { BaseContext } from "../webhooks/base";
import { currentToken, watchToken } from "./token";
import "./portal.css";

/** The frame around the portal: nothing but its screens, for as long as the token is good. */
export function Portal() {
  const { text } = useText();
  const { portal } = text.webhooks;
  const token = useSyncExternalStore(watchToken, currentToken);
  const [endedToken, setEndedToken] = useState<string>();
  const access = useMemo(() => {
    if (token === undefined) return undefined;
    const credentials = new GivenToken({ url: location.origin, token, retries: 2, longestWait: 5, onEnd: () => setEndedToken(token) });
    return { credentials, client: newClient(new Canopy(credentials)) };
  }, [token]);
  useNextToken((next) => {
    access?.credentials.give(next);
    setEndedToken(undefined);
  });
  if (!access) return <Frame><Told title={portal.missing} hint={portal.missingHint} /></Frame>;
  if (endedToken === token) return <Frame><Told title={portal.expired} hint={portal.expiredHint} /></Frame>;
  return (
    <Frame>
      <Provider value={access.client} key={token}>
        <BaseContext value="/portal">
          <WithMe />
        </BaseContext>
      </Provider>
    </Frame>
  );
}

/** Hears of the next token from the page that this one is in: which pages that may be is the platform's setting. */
function useNextToken(take: (token: string) => void): void {
  useEffect(() => {
    const hear = ({ source, data }: MessageEvent<{ canopyToken?: unknown } | null>) => {
      if (source === window.parent && source !== window && typeof data?.canopyToken === "string") take(data.canopyToken);
    };
    window.addEventListener("message", hear);
    return () => window.removeEventListener("message", hear);
  });
}

function Frame({ children }: { children: ReactNode }) {
  const { text } = useText();
  useTitle(text.webhooks.title);
  return <main className="portal">{children}</main>;
}

function WithMe() {
  const { text } = useText();
  const { data, error, again } = useAsk(Me, {});
  if (!data) return <Center mih="60dvh">{error ? <Problem error={error} again={again} /> : <Waiting />}</Center>;
  if (!has(data.me, "webhook.read")) return <Told title={text.webhooks.portal.forbidden} hint={text.webhooks.portal.forbiddenHint} />;
  return (
    <MeContext value={{ ...data.me, lost: [] }}>
      <Outlet />
    </MeContext>
  );
}

/** What is said in place of a screen. */
function Told({ title, hint }: { title: string; hint: string }) {
  const { text } = useText();
  return (
    <>
      <VisuallyHidden component="h1">{text.webhooks.title}</VisuallyHidden>
      <Empty title={title} hint={hint} />
    </>
  );
}

/** What is at an address of the portal where nothing is. */
export function Missing() {
  const { text } = useText();
  return <Told title={text.app.notFound} hint={text.app.notFoundHint} />;
}
