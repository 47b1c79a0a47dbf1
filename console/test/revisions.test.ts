import assert from "node:assert/strict";
import test from "node:test";
import { counting, graph, made } from "./made.js";
import { accessible, ada, jonas, open, signIn } from "./visit.js";

test("what runs is taken back; each revision is kept, compared, and had back as the draft", async (t) => {
  const page = await open(t);
  const { databaseId, id } = await made(ada, "Kept", counting);
  await graph(ada, "mutation($input: UpdateAgentInput!) { updateAgent(input: $input) { agent { id } } }", { input: { id, diagram: { ...counting, output: { newer: "It was changed since, and says so in a line that has no room on a telephone" } } } });
  await signIn(page, ada, `/console/agents/${databaseId}/test`);
  await page.getByText("This tests revision 1").waitFor();
  await page.getByLabel("Input").fill('{"n": 3}');
  await accessible(page, "agent-test-older");
  await page.getByRole("button", { name: "Publish the draft" }).click();
  await page.getByText("This tests revision 1").waitFor({ state: "detached" });
  assert.equal(await page.getByLabel("Input").inputValue(), '{"n": 3}');

  await page.getByRole("link", { name: "Revisions" }).click();
  const list = page.getByRole("listbox", { name: "Revisions" });
  await list.getByRole("option", { name: /revision 2.*runs now/ }).waitFor();
  await page.getByText("It is the same as the draft.").waitFor();
  await list.getByRole("option", { name: /revision 1/ }).click();
  const first = page.getByRole("region", { name: "Revision 1" });
  await first.locator("del", { hasText: "steps.second" }).waitFor();
  await first.locator("ins", { hasText: "newer" }).waitFor();
  await accessible(page, "agent-revisions");
  await page.setViewportSize({ width: 390, height: 800 });
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, "the revisions are wider than a telephone");
  assert.ok((await first.boundingBox())!.width > 200, "a revision has no room on a telephone");
  // Opened by its address: no other page has brought any style along.
  await page.goto(page.url().replace(/\?.*/, ""));
  await page.getByText("It is the same as the draft.").waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, "a whole revision is wider than a telephone");
  await page.goBack();
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.reload();
  await first.getByRole("button", { name: "Make it the draft" }).click();
  await first.getByText("It is the same as the draft.").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await first.locator("ins", { hasText: "newer" }).waitFor();

  await page.getByRole("button", { name: "More to do with the agent" }).click();
  await page.getByRole("menuitem", { name: "Take back what is published" }).click();
  await page.getByRole("alert").filter({ hasText: "can’t be run any more" }).getByRole("button", { name: "Undo" }).click();
  await list.getByText("runs now").waitFor();
  // Where the draft is another one, publishing it would not bring back what ran.
  await list.getByRole("option", { name: /revision 1/ }).click();
  await first.getByRole("button", { name: "Make it the draft" }).click();
  await first.getByText("It is the same as the draft.").waitFor();
  await page.getByRole("button", { name: "More to do with the agent" }).click();
  await page.getByRole("menuitem", { name: "Take back what is published" }).click();
  await accessible(page, "agent-unpublish");
  await page.getByRole("dialog", { name: "Take back what is published of Kept?" }).getByRole("button", { name: "Take back what is published" }).click();
  await list.getByRole("option", { name: /revision 2/ }).waitFor();
  await list.getByText("runs now").waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Test", exact: true }).click();
  await page.getByRole("button", { name: "Publish, and test it" }).click();
  await page.getByLabel("Input").waitFor();
  await page.waitForFunction(() => document.activeElement !== document.body); // the button has gone, and the focus is where it was before
  await page.getByLabel("Input").fill('{"n": 3}');
  await page.getByRole("button", { name: "Run it" }).click();
  await page.getByRole("region", { name: "Run", exact: true }).getByRole("status").getByText("finished").waitFor();
});

test("the agents of a company below", async (t) => {
  const page = await open(t);
  await made(jonas, "Further down", counting);
  await signIn(page, ada, "/console/agents");
  await page.getByRole("link", { name: "Companies" }).first().click();
  await page.getByRole("treeitem", { name: "Alpine Energy" }).click();
  await page.getByRole("region", { name: "Alpine Energy" }).getByRole("link", { name: "Show its agents" }).click();
  await page.getByText("of Alpine Energy").waitFor();
  await accessible(page, "agents-below");
  await page.getByRole("listbox", { name: "Agents" }).getByRole("option", { name: /Further down/ }).click();
  await page.getByRole("button", { name: "More to do with the agent" }).click();
  await page.getByRole("menuitem", { name: "Disable" }).click();
  await page.getByText("disabled", { exact: true }).waitFor();
  const said = page.getByRole("alert").filter({ hasText: "Further down can’t be run any more, until it is enabled." });
  await said.getByRole("button", { name: "Undo" }).click();
  await page.getByText("can be run", { exact: true }).waitFor();
  await page.getByRole("button", { name: "More to do with the agent" }).click();
  await page.getByRole("menuitem", { name: "Disable" }).click();
  await page.getByText("disabled", { exact: true }).waitFor();
  await page.goBack();
  await page.getByRole("option", { name: /Further down.*disabled/ }).waitFor();
  await page.getByLabel("Find an agent by its name").fill("No such");
  await page.getByRole("button", { name: "Clear the filters" }).click();
  await page.getByRole("option", { name: /Further down/ }).waitFor();
  await page.getByRole("button", { name: "Your own company" }).click();
  await page.getByText("of Alpine Energy").waitFor({ state: "detached" });
});

test("an agent that was deleted is among those that can be brought back, as long as it can", async (t) => {
  const page = await open(t);
  const { databaseId } = await made(ada, "Short-lived", counting);
  await signIn(page, ada, `/console/agents/${databaseId}`);
  await page.getByRole("button", { name: "More to do with the agent" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByText("Short-lived is deleted. Its runs stay in the list.").waitFor();
  await page.getByRole("link", { name: "Recently deleted" }).click();
  const panel = page.getByRole("region", { name: "Recently deleted" });
  await panel.getByText(/goes for good/).first().waitFor();
  await accessible(page, "agents-deleted");
  await panel.getByRole("button", { name: "Bring back Short-lived" }).click();
  await page.getByText("Short-lived is back").waitFor();
  await panel.getByRole("button", { name: "Bring back Short-lived" }).waitFor({ state: "detached" });
  await page.getByRole("option", { name: /Short-lived/ }).waitFor();
});
