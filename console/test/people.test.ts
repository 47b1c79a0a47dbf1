import assert from "node:assert/strict";
import test from "node:test";
import { added } from "./made.js";
import { setting } from "./browser.js";
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

test("who belongs to several companies is taken out of the one that is chosen", async (t) => {
  await added(ada, mira.email, ["Brightwater Health"]);
  const page = await open(t);
  await signIn(page, ada, "/console/people");
  await page.getByRole("listbox", { name: "People" }).getByRole("option", { name: /Mira Vogel/ }).click();
  const person = page.getByRole("region", { name: "Mira Vogel" });
  await person.getByRole("button", { name: "Remove from a company" }).click();
  const dialog = page.getByRole("dialog", { name: "Remove Mira Vogel?" });
  await dialog.getByLabel("Out of").selectOption({ label: "Northwind Group/Brightwater Health" });
  await dialog.getByText("on accounts of Northwind Group/Brightwater Health").waitFor();
  await accessible(page, "remove-person");
  await dialog.getByRole("button", { name: "Remove from a company" }).click();
  await person.getByRole("link", { name: "Northwind Group/Brightwater Health" }).waitFor({ state: "detached" });
  await person.getByRole("link", { name: "Northwind Group/Alpine Energy" }).waitFor();
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
  await panel.getByRole("note").getByText(setting("MAILS")).waitFor();
  await panel.getByText("1 person could not be invited").waitFor();
  await accessible(page, "invited");
  await panel.getByText("Who signs in already can begin at once").waitFor();
  assert.match(await panel.getByLabel("Who").inputValue(), /mira@alpine/);
  await page.getByRole("listbox", { name: "People" }).getByRole("option", { name: /Rosa Lang/ }).click();
  const rosa = page.getByRole("region", { name: "Rosa Lang" });
  await rosa.getByText("Viewer in Tenant management of Alpine Energy").waitFor();

  const other = await open(t);
  await other.goto(await linkFor("rosa@alpine.example"));
  const password = "correct horse battery staple";
  await other.getByLabel("New password", { exact: true }).fill(password);
  await other.getByLabel("New password, again").fill(password);
  await other.getByRole("button", { name: "Set your password" }).click();
  await other.getByRole("heading", { name: "Welcome, Rosa" }).waitFor();
});

test("invite without a permission, and one that can’t be given: each is told, tried again, and nothing is lost", async (t) => {
  const page = await open(t, { complaints: /ERR_FAILED|ERR_INTERNET/ });
  await signIn(page, greta, "/console/people/invite");
  const panel = page.getByRole("region", { name: "Invite people" });
  const rights = panel.getByRole("group", { name: "What they may do" });
  await rights.getByLabel("Tenant management").selectOption("");
  await panel.getByText("They can’t sign in until").waitFor();
  await panel.getByLabel("Who").fill("nora@alpine.example");
  await panel.getByRole("button", { name: "Invite 1 person" }).click();
  await panel.getByRole("link", { name: "Give nora@alpine.example a permission" }).waitFor();

  // The invitation goes out, and then the platform can't be reached.
  await page.route("**/graphql", (route) => (route.request().postData()?.includes("createPermissions") ? route.abort() : route.continue()));
  await rights.getByLabel("Tenant management").selectOption("Viewer");
  await panel.getByLabel("Who").fill("Nils Late <nils@alpine.example>\nNele Late <nele@alpine.example>");
  await panel.getByRole("button", { name: "Invite 2 people" }).click();
  await panel.getByText("2 people are invited, and lack a permission").waitFor();
  await panel.getByText(/nils@alpine\.example: Viewer/).first().waitFor();
  await accessible(page, "invited-without");
  await page.unrouteAll({ behavior: "wait" });
  await panel.getByRole("button", { name: "Try once more to give it" }).click();
  await panel.getByText("lack a permission").waitFor({ state: "detached" });
  await panel.getByText("Who signs in already can begin at once").waitFor();
});

test("a hundred pasted invitations, and what became of each", async (t) => {
  const page = await open(t);
  await signIn(page, greta, "/console/people/invite");
  const panel = page.getByRole("region", { name: "Invite people" });
  const lines = Array.from({ length: 99 }, (_, n) => `Guest Number${n}\tguest${n}@alpine.example`);
  await panel.getByLabel("Who").fill([...lines, mira.email].join("\n"));
  await panel.getByRole("button", { name: "Invite 100 people" }).click();
  await panel.getByText("99 people are invited").waitFor();
  await panel.getByText("1 person could not be invited").waitFor();
  await panel.getByText("What became of each").click();
  // Permissions come after the invitations.
  await panel.getByLabel("What became of each").filter({ hasText: "Invited, with" }).waitFor();
  const report = (await panel.getByLabel("What became of each").innerText()).split("\n");
  assert.equal(report.length, 100);
  assert.equal(report.filter((line) => /^guest\d+@alpine\.example\tInvited, with Viewer · Tenant management\.$/.test(line)).length, 99);
  assert.match(report[99]!, /^mira@alpine\.example\t/);
  await accessible(page, "invited-many");
  assert.equal((await panel.getByLabel("Who").inputValue()).trim().split("\n").length, 1);
});

test("nobody is left out of a line with several addresses, as mail programs write them", async (t) => {
  const page = await open(t);
  await signIn(page, greta, "/console/people/invite");
  const panel = page.getByRole("region", { name: "Invite people" });
  await panel.getByLabel("Who").fill('lena.moor@alpine.example, Lutz Moor <lutz.moor@alpine.example>; "Moor, Lisa" <lisa.moor@alpine.example>\nLENA.MOOR@alpine.example');
  await panel.getByRole("button", { name: "Invite 3 people" }).click();
  await panel.getByText("3 people are invited").waitFor();
  await page.goto(`${url}/console/people?find=moor`);
  for (const name of ["lena.moor@alpine.example", "Lutz Moor", "Moor Lisa"]) await page.getByRole("option", { name: new RegExp(name) }).waitFor();
});

test("take somebody out of a company, and take that back: the permissions are there again", async (t) => {
  await added(greta, "gone@alpine.example", ["Alpine Energy"]);
  const page = await open(t, { complaints: /ERR_FAILED|status of 403/ });
  await signIn(page, greta, "/console/people?find=gone");
  const row = page.getByRole("listbox", { name: "People" }).getByRole("option", { name: /gone@alpine/ });
  await row.click();
  const person = page.getByRole("region", { name: "gone@alpine.example" });
  await person.getByText("Viewer in Tenant management of Alpine Energy").waitFor();
  await person.getByRole("button", { name: "Remove from a company" }).click();
  const dialog = page.getByRole("dialog", { name: "Remove gone@alpine.example?" });
  await page.route("**/graphql", (route) => route.abort());
  await dialog.getByRole("button", { name: "Remove from a company" }).click();
  await dialog.getByText("The platform can’t be reached").waitFor();
  await accessible(page, "remove-failed");
  await page.unrouteAll({ behavior: "wait" });
  await dialog.getByRole("button", { name: "Remove from a company" }).click();
  await row.waitFor({ state: "detached" });
  await person.waitFor({ state: "detached" });
  await page.getByRole("alert").filter({ hasText: "gone@alpine.example is removed from Alpine Energy" }).waitFor();
  await accessible(page, "removed");
  await page.getByRole("button", { name: "Undo" }).click();
  await row.waitFor();
  await row.click();
  await page.getByText("Viewer in Tenant management of Alpine Energy").waitFor();
  await page.goto(`${url}/console/people/99999999`);
  await page.getByRole("heading", { name: "This person is not here" }).waitFor();
  await page.goto(`${url}/console/people/abc`);
  await page.getByRole("heading", { name: "There is no such page" }).waitFor();
});

test("a permission is turned off: what that does is said, and taken back", async (t) => {
  await added(greta, "paused@alpine.example", ["Alpine Energy"]);
  const page = await open(t);
  await signIn(page, greta, "/console/people?find=paused");
  await page.getByRole("listbox", { name: "People" }).getByRole("option", { name: /paused@alpine/ }).click();
  const person = page.getByRole("region", { name: "paused@alpine.example" });
  await person.getByRole("button", { name: /^Turn off: Viewer/ }).click();
  const said = page.getByRole("alert").filter({ hasText: "paused@alpine.example can do nothing as Viewer in Tenant management of Alpine Energy any more" });
  await said.waitFor();
  await person.getByText("turned off", { exact: true }).waitFor();
  await accessible(page, "permission-off");
  await said.getByRole("button", { name: "Undo" }).click();
  await person.getByText("turned off", { exact: true }).waitFor({ state: "detached" });
  await person.getByRole("button", { name: /^Turn off: Viewer/ }).waitFor();
});

test("as this person sees it: their pages and rights in a company, without acting as them", async (t) => {
  const page = await open(t);
  await signIn(page, greta, "/console/people");
  await page.getByRole("listbox", { name: "People" }).getByRole("option", { name: /Mira Vogel/ }).click();
  await page.getByRole("region", { name: "Mira Vogel" }).getByRole("link", { name: "As they see it" }).click();
  const panel = page.getByRole("region", { name: "As Mira Vogel sees it" });
  assert.ok(await panel.getByLabel("Signed in to").inputValue());
  const seen = await panel.getByRole("list").first().getByRole("listitem").allInnerTexts();
  await accessible(page, "preview");
  const may = await panel.getByLabel("They may", { exact: true }).getByRole("listitem").allInnerTexts();
  assert.ok(may.includes("See people user.read") && !may.some((right) => /user\.write|audit\.read/.test(right)), may.join());

  // And why: what each permission gives is what they may, and no more.
  await panel.getByRole("button", { name: "Close" }).click();
  const why = page.getByRole("region", { name: "What they may do, and why" });
  await why.getByText(/^Viewer in .* of Alpine Energy$/).first().waitFor();
  for (const summary of await why.locator("summary").all()) await summary.click();
  assert.deepEqual([...new Set(await why.getByRole("listitem").allInnerTexts())].sort(), may.sort());

  const other = await open(t);
  await signIn(other, mira);
  const menu = await other.getByRole("navigation", { name: "Main" }).getByRole("link").allInnerTexts();
  assert.deepEqual(seen, menu, "the preview shows the menu that they have");
});
