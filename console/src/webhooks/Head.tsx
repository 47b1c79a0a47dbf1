import { Group } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useText } from "../text";
import "../ui/lists.css";
import "../ui/log.css";
import { PageHead } from "../ui/Page";
import { useBase } from "./base";
import "./webhooks.css";

/** The head of the lists: what each is called, the way to the others, and what can be done. */
export function Head({ at, children }: { at: "destinations" | "deliveries" | "events"; children?: ReactNode }) {
  const { text } = useText();
  const base = useBase();
  return (
    <>
      <div className="head"><PageHead title={text.webhooks.lists[at]}>{children}</PageHead></div>
      <Group component="nav" gap={0} className="lists" aria-label={text.webhooks.title}>
        {(["destinations", "deliveries", "events"] as const).map((list) => (
          <Link key={list} to={`${base}/${list}`} aria-current={list === at ? "page" : undefined}>{text.webhooks.lists[list]}</Link>
        ))}
      </Group>
    </>
  );
}
