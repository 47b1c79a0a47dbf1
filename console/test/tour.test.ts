import assert from "node:assert/strict";
import test from "node:test";
import type { Locator } from "playwright-core";
import { ada, linkFor, open, pdfOf, receivers, signIn } from "./visit.js";

const otto = { email: "otto@boathouse.example", password: "correct horse battery staple" };
const pages = ["The boat house opens at eight.", "Life jackets are in the red locker.", "In a storm the harbour master raises two black flags."];

test("the first ten minutes: from a company to a delivery that is sent again", async (t) => {
  const page = await open(t);
  const menu = page.getByRole("navigation", { name: "Main" });
  /** Waits until a field has the focus: one types at once. */
  const ready = (field: Locator) => field.and(field.page().locator(":focus")).waitFor();
  await signIn(page, ada);

  // A company, and a person in it.
  await menu.getByRole("link", { name: "Companies" }).click();
  await page.getByRole("link", { name: "Create a company" }).click();
  const company = page.getByRole("region", { name: "Create a company" });
  await ready(company.getByLabel("Name", { exact: true }));
  await page.keyboard.type("Boat House");
  await company.getByLabel("First admin’s e-mail").fill("olga@boathouse.example");
  await company.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("region", { name: "Boat House" }).getByRole("link", { name: "Show its people" }).click();
  await page.getByRole("link", { name: "Invite people" }).click();
  const invite = page.getByRole("region", { name: "Invite people" });
  await invite.getByText("Into Boat House").waitFor();
  await ready(invite.getByLabel("Who"));
  await page.keyboard.type(`Otto Boatman <${otto.email}>`);
  await invite.getByRole("button", { name: "Invite 1 person" }).click();
  await invite.getByText("Who signs in already can begin at once").waitFor();
  await ready(invite.getByLabel("Who")); // for the next one

  // They take the way that the mail shows.
  const other = await open(t);
  await other.goto(await linkFor(otto.email));
  await other.getByText("Boat House has invited you.").waitFor();
  assert.equal(await other.getByLabel("E-mail").inputValue(), otto.email);
  await ready(other.getByLabel("New password", { exact: true }));
  await other.keyboard.type(otto.password);
  await other.keyboard.press("Tab");
  await other.keyboard.type(otto.password);
  await other.keyboard.press("Enter");
  await other.getByRole("heading", { name: "Welcome, Otto" }).waitFor();

  // A document of several pages, and a sentence with its page.
  const handbook = { name: "handbook.pdf", mimeType: "application/pdf", buffer: await pdfOf(t, pages.map((words) => `${words} `.repeat(20))) };
  await menu.getByRole("link", { name: "Contexts" }).click();
  await page.getByRole("link", { name: "Create a context" }).first().click();
  await ready(page.getByLabel("Name", { exact: true }));
  await page.keyboard.type("Boat house");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("heading", { name: "No documents yet" }).waitFor();
  await page.getByLabel("Add documents").first().setInputFiles([handbook]);
  await page.getByRole("option", { name: /handbook\.pdf.*Searchable/i }).waitFor();
  await page.getByRole("link", { name: "Search", exact: true }).click();
  await page.getByLabel("What are you looking for?").fill("black flags in a storm");
  await page.keyboard.press("Enter");
  await page.locator("mark", { hasText: "flags" }).first().waitFor();
  await page.getByText(/page \d/).first().waitFor();
  await ready(page.getByLabel("What are you looking for?")); // to put it otherwise

  // Whom to tell, before there is something to tell.
  await menu.getByRole("link", { name: "Webhooks" }).click();
  await page.getByRole("link", { name: "Add the first destination" }).click();
  await ready(page.getByLabel("Address"));
  await page.getByRole("button", { name: "Receive on your own machine" }).click();
  await page.getByRole("button", { name: "Use this address" }).click();
  await ready(page.getByLabel("Address"));
  assert.equal(await page.getByLabel("Address").inputValue(), "https://127.0.0.1:8443/");
  await page.getByLabel("Address").fill(receivers.well);
  await page.getByLabel("Name", { exact: true }).fill("Boat desk");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("button", { name: "I have kept it" }).click();

  // An agent that searches and answers, and its run.
  await menu.getByRole("link", { name: "Agents" }).click();
  await page.getByRole("link", { name: "New agent" }).first().click();
  await ready(page.getByLabel("Name", { exact: true }));
  await page.keyboard.type("Boat answers");
  await page.getByLabel("Find and answer").check();
  await page.getByLabel("Context").waitFor();
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("link", { name: "Test", exact: true }).click();
  await page.getByRole("button", { name: "Publish, and test it" }).click();
  await ready(page.getByLabel("question"));
  await page.keyboard.type("black flags in a storm");
  await page.keyboard.press("Enter");
  const run = page.getByRole("region", { name: "Run", exact: true });
  await run.getByRole("status").getByText("finished").waitFor();
  const output = run.getByRole("region", { name: "Output" });
  assert.match(await output.locator("pre").innerText(), /two black flags/);
  const box = await output.boundingBox();
  assert.ok(box && box.y < 800, "the answer is seen without scrolling");

  // Two runs stand in the list, right below what draws them. The diagram was seen before.
  await run.getByRole("button", { name: "Run again" }).click();
  await run.getByRole("status").getByText("finished").waitFor();
  await page.getByRole("link", { name: "Its runs" }).click();
  await page.getByText("How long they took").waitFor();
  const listed = await page.getByRole("listbox", { name: "Runs" }).boundingBox();
  assert.ok(listed && listed.y < 400, "the runs are seen without scrolling");

  // Its delivery, once more.
  await menu.getByRole("link", { name: "Webhooks" }).click();
  await page.getByRole("link", { name: "Deliveries" }).click();
  const deliveries = page.getByRole("listbox", { name: "Deliveries" });
  const completed = deliveries.getByRole("option", { name: /run\.completed.*delivered/ });
  await completed.nth(1).waitFor();
  await completed.first().click();
  await page.getByRole("region", { name: "run.completed", exact: true }).getByRole("button", { name: "Send again" }).click();
  await completed.nth(2).waitFor();

  // How its receiver does, drawn, with a key of one line.
  await page.getByRole("link", { name: "Destinations" }).click();
  await page.getByRole("listbox", { name: "Destinations" }).getByRole("option", { name: /Boat desk/ }).click();
  const key = page.locator(".chart .key");
  await key.waitFor();
  const drawn = await key.boundingBox();
  assert.ok(drawn && drawn.height < 40, "the key is small");
});
