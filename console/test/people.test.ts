import assert from "node:assert/strict";
import test from "node:test";
import { accessible, ada, greta, linkFor, mira, open, signIn, url } from "./visit.js";

test("people by name, company and password, and one of them", async (t) => {
  const page = await open(t);
  await signIn(page, ada, "/console/people");
  const list = page.getByRole("listbox", { name: "People" });
  await list.getByRole("option", { name: /Hana Silva/ }).waitFor();
  await accessible(page, "people");
  await page.getByLabel("Password").selectOption("no");
  await list.getByRole("option", { name: /Greta Huber/ }).waitFor({ state: "detached" });
  await list.getByRole("option", { name: /Hana Silva/ }).waitFor();
  await page.getByRole("searchbox", { name: "Find by name or address" }).fill("nobody at all");
  await page.getByRole("heading", { name: "Nobody fits" }).waitFor();
  await accessible(page, "people-none");
  await page.getByRole("button", { name: "Clear the filters" }).click();
  await list.getByRole("option", { name: /Greta Huber/ }).click();
  const person = page.getByRole("region", { name: "Greta Huber" });
  await person.getByRole("link", { name: "Northwind Group/Alpine Energy" }).click();
  await page.getByRole("region", { name: "Alpine Energy" }).getByRole("link", { name: "Show its people" }).click();
  await page.getByText("of Alpine Energy").waitFor();
  await list.getByRole("option", { name: /Mira Vogel/ }).waitFor();
  assert.equal(await list.getByRole("option", { name: /Hana Silva/ }).count(), 0);
});

test("invite several at once; who was refused stays; who was invited accepts in another browser", async (t) => {
  const page = await open(t);
  await signIn(page, greta, "/console/people");
  await page.getByRole("link", { name: "Invite people" }).click();
  const panel = page.getByRole("region", { name: "Invite people" });
  await panel.getByText("Into Alpine Energy").waitFor();
  await panel.getByLabel("Who").fill("Rosa Lang <rosa@alpine.example>\nnobody");
  await panel.getByText("There is no address in line 2").waitFor();
  await accessible(page, "invite");
  await panel.getByLabel("Who").fill(`Rosa Lang <rosa@alpine.example>\n${mira.email}`);
  await panel.getByRole("button", { name: "Invite 2 people" }).click();
  await panel.getByText("1 person is invited").waitFor();
  await panel.getByText("1 person could not be invited").waitFor();
  await accessible(page, "invited");
  assert.match(await panel.getByLabel("Who").inputValue(), /mira@alpine/);
  await page.getByRole("listbox", { name: "People" }).getByRole("option", { name: /Rosa Lang/ }).waitFor();

  const other = await open(t);
  await other.goto(`${url}/console/set-password${new URL(await linkFor("rosa@alpine.example")).hash}`);
  const password = "correct horse battery staple";
  await other.getByLabel("New password", { exact: true }).fill(password);
  await other.getByLabel("New password, again").fill(password);
  await other.getByRole("button", { name: "Set your password" }).click();
  await other.getByRole("heading", { name: "Your password is set" }).waitFor();
});
