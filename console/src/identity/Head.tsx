import { Group } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useMe } from "../session/rights";
import { useText } from "../text";
import "../ui/lists.css";
import { PageHead } from "../ui/Page";

/** The head of the lists: what each is called, the way to the other, and what can be done. */
export function Head({ at, children }: { at: "providers" | "directories"; children?: ReactNode }) {
  const { text } = useText();
  const me = useMe();
  const lists = me.can("key.read") ? (["providers", "directories"] as const) : (["providers"] as const);
  return (
    <>
      <div className="head"><PageHead title={text.identity.lists[at]}>{children}</PageHead></div>
      <Group component="nav" gap={0} className="lists" aria-label={text.identity.title}>
        {lists.map((list) => (
          <Link key={list} to={list === "providers" ? "/identity" : "/identity/directories"} activeOptions={{ exact: true }} aria-current={list === at ? "page" : undefined}>{text.identity.lists[list]}</Link>
        ))}
      </Group>
    </>
  );
}
