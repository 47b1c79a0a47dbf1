import { Group } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useMe } from "../session/rights";
import { useText } from "../text";
import "../ui/lists.css";
import { PageHead } from "../ui/Page";
import "./agents.css";

/** The head of the lists: what each is called, the way to the others, and what can be done. */
export function Head({ at, children }: { at: "agents" | "runs" | "secrets"; children?: ReactNode }) {
  const { text } = useText();
  const me = useMe();
  const lists = me.can("agent.write") ? (["agents", "runs", "secrets"] as const) : (["agents", "runs"] as const);
  return (
    <>
      <div className="head"><PageHead title={text.agents.lists[at]}>{children}</PageHead></div>
      <Group component="nav" gap={0} className="lists" aria-label={text.agents.title}>
        {lists.map((list) => (
          <Link key={list} to={list === "agents" ? "/agents" : `/agents/${list}`} activeOptions={{ exact: true, includeSearch: false }} aria-current={list === at ? "page" : undefined}>{text.agents.lists[list]}</Link>
        ))}
      </Group>
    </>
  );
}
