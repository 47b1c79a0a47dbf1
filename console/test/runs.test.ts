import assert from "node:assert/strict";
import test from "node:test";
import { counting, graph, made } from "./made.js";
import { accessible, ada, jonas, mira, open, receivers, signIn, sofia, url } from "./visit.js";

test("runs: filters, one that has failed, one that is cancelled, and the search box", async (t) => {
  const page = await open(t);
  const failing = await made(ada, "Always fails", { steps: [{ id: "no", type: "fail", message: "Not today", code: "closed" }], output: {} });
  await signIn(page, ada, `/console/agents/${failing.databaseId}/test`);
  await page.getByRole("button", { name: "Run it" }).click();
  const run = page.getByRole("region", { name: "Run", exact: true });
  await run.getByText("The run has failed at no").first().waitFor();
  await run.getByText("Not today.").first().waitFor();
  await accessible(page, "run-failed");
  await page.getByRole("link", { name: "Its runs" }).click();
  await page.waitForURL(/agent=\d+/);
  const list = page.getByRole("listbox", { name: "Runs" });
  await list.getByRole("option", { name: /Always fails.*failed/ }).click();
  const panel = page.getByRole("region", { name: "Run of Always fails" });
  await panel.getByText("closed").first().waitFor();
  await accessible(page, "run-panel");
  await panel.getByRole("button", { name: "Close" }).click();
  await page.getByLabel("Status").selectOption("finished");
  await page.getByRole("heading", { name: "Nothing fits" }).waitFor();
  await page.getByRole("button", { name: "Clear the filters" }).click();
  await list.getByRole("option", { name: /Always fails/ }).click();
  await panel.getByText("closed").first().waitFor();
  const jobKey = page.url().match(/runs\/([0-9a-f-]{36})/)![1]!;
  await panel.getByRole("button", { name: "Close" }).click();

  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search" }).fill("always");
  await page.getByRole("dialog").getByRole("option", { name: `Run: Always fails failed · ${jobKey}` }).waitFor(); // by its agent's name
  await page.getByRole("dialog").getByRole("option", { name: /Always fails/ }).first().click();
  await page.getByRole("heading", { name: "Always fails", level: 1 }).waitFor();
  for (const beginning of [jobKey.slice(0, 11), jobKey]) {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search" }).fill(beginning);
    await page.getByRole("dialog").getByRole("option", { name: /Run: Always fails/ }).click();
    await page.waitForURL(new RegExp(jobKey));
  }
  await panel.getByText("closed").first().waitFor();

  // How long runs took is drawn where that is asked for, and their figures are a table.
  await graph(ada, "mutation($input: StartRunInput!) { startRun(input: $input) { jobKey } }", { input: { agentId: failing.id } });
  await page.goto(`${url}/console/agents/runs`);
  await list.getByRole("option", { name: /Always fails.*failed/ }).nth(1).waitFor();
  await page.getByText("How long they took").click();
  await page.getByRole("img", { name: /How long runs took: the newest 2/ }).locator("canvas").waitFor();
  await page.getByText("The figures as a table").click();
  await page.getByRole("row", { name: /Always fails .* failed/ }).nth(1).waitFor();
  await accessible(page, "runs-drawn");
});

test("each step of a run tells what it was given and gave, when and how long; secrets by their names", async (t) => {
  const page = await open(t);
  await graph(ada, "mutation($input: CreateSecretInput!) { createSecret(input: $input) { secret { id } } }", { input: { name: "RUN_KEY", value: "s3cr3t-value" } });
  const { databaseId } = await made(ada, "Asks elsewhere", {
    steps: [
      { id: "words", type: "set", values: { of: "{{ input.name }}" } },
      { id: "call", type: "http", method: "POST", url: receivers.well, headers: { Authorization: "Bearer {{ secrets.RUN_KEY }}" }, body: { name: "{{ steps.words.of }}" } },
      { id: "stop", type: "fail", message: "No {{ steps.words.of }}", code: "closed" },
    ], output: {},
  });
  await signIn(page, ada, `/console/agents/${databaseId}/test`);
  await page.getByLabel("Input").fill('{"name": "Ada"}');
  await page.getByRole("button", { name: "Run it" }).click();
  const steps = page.getByRole("region", { name: "Run", exact: true }).getByRole("region", { name: "Steps" });
  await steps.getByText("closed").waitFor();
  const given = async (step: string) => {
    await steps.getByRole("listitem").filter({ hasText: step }).getByText("What it was given").click();
    return JSON.parse(await steps.getByLabel(`What ${step} was given`).innerText()) as unknown;
  };
  assert.deepEqual(await given("call"), {
    method: "POST", url: receivers.well, headers: { Authorization: "Bearer [secret RUN_KEY]", "Content-Type": "application/json" }, body: { name: "Ada" },
  });
  assert.deepEqual(await given("stop"), { message: "No Ada" });
  await steps.getByText("What it gave").first().click();
  assert.deepEqual(JSON.parse(await steps.getByLabel("What words gave").innerText()), { of: "Ada" });
  assert.equal(await steps.getByLabel("What words was given").count(), 0); // it is what it gave
  assert.equal(await steps.locator("time").count(), 3);
  await accessible(page, "run-steps");
});

test("a search that finds nothing says what was looked for, and how to go on", async (t) => {
  const page = await open(t);
  const { createContext: { context } } = await graph<{ createContext: { context: { databaseId: number } } }>(
    ada, "mutation($input: CreateContextInput!) { createContext(input: $input) { context { databaseId } } }", { input: { name: "Has nothing yet", description: "d", caption: "c" } });
  const { databaseId } = await made(ada, "Finds nothing", {
    steps: [{ id: "hits", type: "search", contextId: context.databaseId, prompt: "{{ input.question }}" }], output: {},
  });
  await signIn(page, ada, `/console/agents/${databaseId}/test`);
  await page.getByLabel("Input").fill('{"question": "How deep is it?"}');
  await page.getByRole("button", { name: "Run it" }).click();
  await page.getByText("Nothing was found for “How deep is it?”").waitFor();
  await accessible(page, "run-found-nothing");
  await page.getByRole("link", { name: "What is closest there" }).click();
  await page.waitForURL(new RegExp(`/contexts/${context.databaseId}/search`));
  assert.match(decodeURIComponent(page.url()), /How.deep.is.it/);
  await page.goBack();
  await page.getByRole("link", { name: "The context’s documents" }).click();
  await page.getByRole("heading", { name: "Has nothing yet", level: 1 }).waitFor();
});

test("from a run to what webhooks were told of it, and back", async (t) => {
  const page = await open(t);
  await graph(ada, "mutation($input: CreateWebhookDestinationInput!) { createWebhookDestination(input: $input) { secret } }", { input: { url: receivers.well, name: "Told of runs" } });
  const { id } = await made(ada, "Tells", counting);
  // Others begin beside it.
  const started = await Promise.all(Array.from({ length: 5 }, () => graph<{ startRun: { jobKey: string } }>(ada, "mutation($input: StartRunInput!) { startRun(input: $input) { jobKey } }", { input: { agentId: id, input: { n: 2 } } })));
  const { jobKey } = started[2]!.startRun;
  await signIn(page, ada, `/console/agents/runs/${jobKey}`);
  const told = page.getByRole("region", { name: "Webhooks that were told" });
  await told.getByText("run.completed").waitFor();
  await told.getByText("delivered", { exact: true }).nth(1).waitFor();
  assert.deepEqual(await told.getByRole("link").allInnerTexts(), ["run.started", "run.completed"]);
  await accessible(page, "run-told");
  await told.getByRole("link", { name: "run.started" }).click();
  const delivery = page.getByRole("region", { name: "run.started" });
  await delivery.getByRole("link", { name: jobKey }).click();
  await page.getByRole("region", { name: "Run of Tells" }).getByText(jobKey, { exact: true }).waitFor();
});

test("a run under way is shown as it goes, and cancelled", async (t) => {
  const page = await open(t);
  const slow = await made(ada, "Takes long", { steps: [{ id: "now", type: "set", values: { a: 1 } }, { id: "wait", type: "http", url: receivers.slow, headers: { "X-Of": "{{ steps.now.a }}" } }, { id: "after", type: "set", values: { b: 1 } }], output: {} });
  await signIn(page, ada, `/console/agents/${slow.databaseId}/test`);
  await page.getByRole("button", { name: "Run it" }).click();
  const run = page.getByRole("region", { name: "Run", exact: true });
  await run.getByText(/wait.*under way/).waitFor();
  await run.getByRole("timer").waitFor(); // once it has taken a while, also what it was given is known
  await run.getByText("What it was given").click();
  assert.deepEqual(JSON.parse(await run.getByLabel("What wait was given").innerText()), { method: "GET", url: receivers.slow, headers: { "X-Of": "1" } });
  await accessible(page, "run-under-way");
  await run.getByRole("button", { name: "Cancel" }).click();
  await run.getByText("The run was cancelled", { exact: true }).waitFor();
  await run.getByRole("status").getByText("cancelled", { exact: true }).waitFor();
  // What was under way is still there, and what never came.
  await run.getByText(/wait.*cancelled before it was done/).waitFor();
  await run.getByText(/after.*did not run/).waitFor();
  assert.equal(await run.getByText("under way").count(), 0);
  await accessible(page, "run-cancelled");
  await page.getByRole("link", { name: "Its runs" }).click();
  await page.getByRole("listbox", { name: "Runs" }).getByRole("option", { name: /Takes long.*cancelled/ }).waitFor();
  await page.getByLabel("Status").selectOption("failed or cancelled");
  await page.getByRole("listbox", { name: "Runs" }).getByRole("option", { name: /Takes long.*cancelled/ }).waitFor();
});

test("who may look sees no way to change, and is told why", async (t) => {
  const { databaseId } = await made(jonas, "Looked at", counting);
  const page = await open(t, { width: 390 });
  await signIn(page, mira, `/console/agents/${databaseId}`);
  await page.getByText("You may look, and not change").waitFor();
  await page.getByRole("region", { name: "Step", exact: true }).getByLabel("Value of n").waitFor();
  for (const name of ["Add step", "Save", "More to do with the agent"]) assert.equal(await page.getByRole("button", { name }).count(), 0, name);
  assert.equal(await page.getByRole("link", { name: "Test", exact: true }).count(), 0);
  const fits = async (name: string) => assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, `${name} is wider than the window`);
  await fits("the diagram");
  await accessible(page, "agent-narrow");
  await page.getByRole("link", { name: "Changes" }).click();
  await page.getByRole("heading", { name: "Nothing has changed" }).waitFor();
  await fits("what has changed");
  await page.goto(`${url}/console/agents/runs`);
  await page.getByRole("listbox", { name: "Runs" }).or(page.getByRole("heading", { name: "Nothing has run yet" })).first().waitFor();
  await fits("the list of runs");
  await page.goto(`${url}/console/agents`);
  await page.getByRole("listbox", { name: "Agents" }).getByRole("option", { name: /Looked at/ }).waitFor();
  assert.equal(await page.getByRole("link", { name: "New agent" }).count(), 0);
  await page.goto(`${url}/console/agents/999999`);
  await page.getByRole("heading", { name: "This agent is not here" }).waitFor();
  await accessible(page, "agent-gone");
});

test("who may run, and not change, sees how to test and no more", async (t) => {
  const { me: { grants } } = await graph<{ me: { grants: { application: string; accountId: number }[] } }>(sofia, "{ me { grants { application accountId } } }", {});
  const { accountId } = grants.find(({ application }) => application === "builder")!;
  const { databaseId } = await made(ada, "To be run", counting, true, accountId);
  const page = await open(t);
  await signIn(page, sofia, `/console/agents/${databaseId}`);
  await page.getByText("You may look, and not change").waitFor();
  await page.getByRole("link", { name: "Changes" }).click();
  await page.getByRole("heading", { name: "Nothing has changed" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Publish" }).count(), 0);
  // Until the platform has said what the diagram reads, nothing is said of it.
  let say = () => {};
  const said = new Promise<void>((done) => { say = done; });
  await page.route("**/graphql", async (route) => {
    if (route.request().postData()?.includes("diagramCheck")) await said;
    await route.continue();
  });
  const asked = page.waitForRequest((request) => request.postData()?.includes("diagramCheck") ?? false);
  await page.getByRole("link", { name: "Test", exact: true }).click();
  await asked;
  await page.getByLabel("Input").waitFor();
  assert.equal(await page.getByText("This diagram reads nothing of it.").count(), 0);
  say();
  await page.getByText("The diagram reads n.").waitFor();
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.getByLabel("Input").fill('{"n": 2}');
  await page.getByRole("button", { name: "Run it" }).click();
  await page.getByRole("region", { name: "Run", exact: true }).getByRole("status").getByText("finished").waitFor();
  await page.goto(`${url}/console/agents`);
  await page.getByRole("listbox", { name: "Agents" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "Secrets" }).count(), 0);
});
