// Questions that a chat model answers; what it says depends on the question (e2e/console).
import assert from "node:assert/strict";
import test from "node:test";
import type { Page } from "playwright-core";
import { graph } from "./made.js";
import { accessible, greta, open, signIn, url } from "./visit.js";

const tides = "# Harbour\n\nThe spring tide floods the quay in March.\n\n# Kitchen\n\nSoup is served at noon.\n";

// One piece that is longer than the window, with what matters at its end.
const long = `# Crane\n\n${"Every morning the harbour master walks along the sheds and looks at ropes, chains, lamps and bollards before work begins. ".repeat(24)}\n\nThe crane lifts forty tonnes.\n`;

/** Makes a context with documents, and gives the address of its questions. */
async function harbour(page: Page, name: string): Promise<string> {
  const { createContext: { context } } = await graph<{ createContext: { context: { databaseId: number } } }>(
    greta, "mutation($input: CreateContextInput!) { createContext(input: $input) { context { databaseId } } }",
    { input: { name, description: "Answer.", caption: "Tides and soup", starterPrompts: ["When does the tide flood the quay?"] } });
  const at = `/console/contexts/${context.databaseId}`;
  await signIn(page, greta, at);
  await page.getByLabel("Add documents").first().setInputFiles(Object.entries({ tides, long }).map(([file, text]) => ({ name: `${file}.md`, mimeType: "text/markdown", buffer: Buffer.from(text) })));
  for (const file of [/tides\.md.*Searchable/i, /long\.md.*Searchable/i]) await page.getByRole("option", { name: file }).waitFor();
  return `${url}${at}/ask`;
}

const answerOf = (page: Page) => page.getByRole("region", { name: "Answer", exact: true });

async function ask(page: Page, question: string): Promise<void> {
  await page.getByLabel("Your question").fill(question);
  await page.getByRole("button", { name: "Ask", exact: true }).click();
}

test("a question is answered as the model writes, each sentence leads to its place, and what is doubtful says so", async (t) => {
  const page = await open(t);
  const at = await harbour(page, "Harbour office");
  await page.getByRole("link", { name: "Ask", exact: true }).click();
  await accessible(page, "ask-begin");
  await page.getByRole("link", { name: "When does the tide flood the quay?" }).click();
  const answer = answerOf(page);
  await answer.getByText("Answered from 1 place").waitFor();
  await answer.getByText("The quay is flooded in March.").waitFor();
  assert.equal(page.url(), `${at}?prompt=When+does+the+tide+flood+the+quay%3F`);
  await accessible(page, "answer");
  await answer.getByRole("link", { name: "Source 1: tides.md, Harbour" }).first().click();
  await page.getByRole("article").locator("mark", { hasText: "The spring tide floods the quay in March." }).waitFor();
  await accessible(page, "answer-place");
  // Who comes back finds the answer as it was.
  await page.goBack();
  await answer.getByText("Answered from 1 place").waitFor();
  await answer.getByText("(1)").waitFor();
  await answer.getByRole("button", { name: "Ask again" }).click();
  await answer.getByText("(2)").waitFor();

  // On a telephone, a place at the end of a long piece is brought into view.
  await ask(page, "How many tonnes does the crane lift?");
  await answer.locator(".answer", { hasText: "Forty tonnes." }).waitFor();
  await page.setViewportSize({ width: 390, height: 800 });
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
  await accessible(page, "answer-phone");
  await answer.getByRole("link", { name: /^Source 1: long\.md/ }).click();
  await page.waitForFunction(() => {
    const mark = document.querySelector(".chunk[data-at] mark")?.getBoundingClientRect();
    const within = document.querySelector(".chunks")?.getBoundingClientRect();
    return mark && within && mark.height > 0 && mark.top >= within.top && mark.bottom <= Math.min(within.bottom, innerHeight);
  });
  await accessible(page, "answer-place-phone");
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goBack();

  await ask(page, "Does the tide flood the moon?");
  await page.getByText("The moon is cheese.").waitFor();
  await answer.getByText("source removed").or(answer.getByText("no source")).first().waitFor();
  await page.getByText("Take care with this answer").waitFor();
  await accessible(page, "answer-doubtful");

  await ask(page, "Is the tide of the quay unknown?");
  await page.getByRole("heading", { name: "The documents don’t say" }).waitFor();
  await accessible(page, "answer-none");
  await page.getByRole("link", { name: "Show what comes closest" }).click();
  await page.getByLabel("What are you looking for?").waitFor();
  await page.getByRole("link", { name: /^Open the document here: tides\.md/ }).first().waitFor();
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  await page.getByRole("heading", { name: "The documents don’t say" }).waitFor();

  await ask(page, "Does a broken model flood the quay?");
  await page.getByText("The chat model gave no answer.").waitFor();
  await page.getByRole("heading", { name: "The passages that fit best" }).waitFor();
  await accessible(page, "answer-model-failed");
});

test("an answer is seen before it is whole, can be stopped, and asked for again", async (t) => {
  const page = await open(t);
  await harbour(page, "Slow office");
  await page.getByRole("link", { name: "Ask", exact: true }).click();
  await ask(page, "Does the tide flood the quay slowly?");
  const answer = answerOf(page);
  await answer.getByText("The quay is flooded").waitFor();
  await answer.getByText("The answer is being written…").waitFor();
  await accessible(page, "answer-writing");
  await answer.getByRole("button", { name: "Stop" }).click();
  await answer.getByText("You have stopped the answer").waitFor();
  await answer.getByText("The quay is flooded").waitFor();
  await answer.getByRole("button", { name: "Ask again" }).click();
  await answer.getByText("The answer is being written…").waitFor();
  await page.getByRole("link", { name: "Documents", exact: true }).click(); // leaves it
  await page.getByRole("option", { name: /tides\.md/ }).waitFor();
});

test("what goes wrong on the way to an answer is told in words, and the question can be asked again", async (t) => {
  const page = await open(t, { complaints: /WebSocket|Failed to load resource/ });
  // The way to the platform, which the test closes and opens, and what it says in place of the platform.
  let away = false;
  let refusal: object | undefined;
  const cut = new Set<() => void>();
  await page.routeWebSocket(/\/graphql$/, (socket) => {
    if (away) return void socket.close({ code: 1011 });
    const platform = socket.connectToServer();
    cut.add(() => void socket.close({ code: 1011 }));
    socket.onMessage((message) => {
      const { id, type, payload } = JSON.parse(String(message)) as { id?: string; type: string; payload?: { query?: string } };
      if (refusal && type === "subscribe" && payload?.query?.includes("askContext")) socket.send(JSON.stringify({ id, type: "error", payload: [refusal] }));
      else platform.send(message);
    });
  });
  await harbour(page, "Lost office");
  await page.getByRole("link", { name: "Ask", exact: true }).click();
  const alert = page.getByRole("alert");
  const refused = { FORBIDDEN: "You are not allowed to do this", RATE_LIMITED: "Too many requests", UNAVAILABLE: "The platform is not available at the moment", NOT_FOUND: "This is not here" };
  for (const [code, title] of Object.entries(refused)) {
    refusal = { message: "the platform says why", extensions: { code } };
    await ask(page, "When does the tide flood the quay?");
    await alert.getByText(title).waitFor();
    await alert.getByText("The platform says why.").waitFor();
    await accessible(page, `answer-${code.toLowerCase()}`);
    refusal = undefined;
    await alert.getByRole("button", { name: "Try again" }).click();
    await answerOf(page).getByText("Answered from 1 place").waitFor();
  }

  // The connection is lost on the way: what has come stays, and nothing is asked twice unseen.
  await ask(page, "Does the tide flood the quay slowly?");
  await answerOf(page).getByText("The quay is flooded").waitFor();
  away = true;
  cut.forEach((close) => close());
  await alert.getByText("The platform can’t be reached").waitFor();
  await answerOf(page).getByText("The quay is flooded").waitFor();
  await accessible(page, "answer-offline");
  away = false;
  await alert.getByRole("button", { name: "Try again" }).click();
  await answerOf(page).getByText("The answer is being written…").waitFor();

  // The session ends elsewhere.
  await graph(greta, "mutation { revokeOtherSessions(input: { includeCurrent: true }) { sessions { id } } }", {});
  await page.getByLabel("E-mail").or(page.getByText(/^Your session has ended/)).first().waitFor();
});

test("a context that is told to shows which questions find nothing, and how often they are asked", async (t) => {
  const page = await open(t);
  const at = await harbour(page, "Asked office");
  await page.getByRole("link", { name: "Questions", exact: true }).click();
  await page.getByRole("heading", { name: "What is asked is not kept" }).waitFor();
  await accessible(page, "questions-not-kept");
  await page.getByRole("link", { name: "Go to the settings" }).click();
  await page.getByRole("switch", { name: /^Keep what is asked/ }).click();
  await accessible(page, "questions-setting");
  await page.getByRole("button", { name: "Save" }).first().click();
  await page.getByText("Saved").first().waitFor();
  await page.getByRole("link", { name: "Questions", exact: true }).click();
  await page.getByRole("heading", { name: "Nothing was asked yet" }).waitFor();
  await accessible(page, "questions-none");

  for (const prompt of ["xylophone quartz", "Xylophone  quartz", "zephyr", "When does the tide flood the quay?"]) {
    await page.goto(`${at.replace(/ask$/, "search")}?${new URLSearchParams({ prompt })}`);
    await page.getByRole("heading", { name: "Nothing found" }).or(page.getByRole("status").getByText(/hit/)).first().waitFor();
  }
  // They are written behind the answers.
  const first = page.getByRole("row", { name: /^xylophone {1,2}quartz 2 /i });
  for (let tries = 0; tries < 50 && (await first.count()) === 0; tries++) {
    await page.goto(at.replace(/ask$/, "questions"));
    await page.getByRole("table").or(page.locator(".empty")).first().waitFor();
  }
  await first.waitFor();
  await page.getByRole("row", { name: /^zephyr 1 / }).waitFor();
  await page.getByText("3 of 4 in the last 30 days.").waitFor();
  assert.equal(await page.getByRole("row").count(), 3);
  await accessible(page, "questions");
  await page.getByLabel("Questions that found").selectOption("little");
  await page.waitForURL(/\?found=little$/);
  await page.getByRole("row", { name: /^zephyr 1 / }).waitFor();
  await page.getByRole("link", { name: "zephyr" }).click();
  await page.getByRole("heading", { name: "Nothing found" }).waitFor();
});

test("what comes of a search and of a question is seen on a telephone: its keyboard goes; another keyboard goes on in the field", async (t) => {
  const page = await open(t);
  const at = await harbour(page, "Telephone");
  const telephone = await open(t, { width: 390, touch: true });
  await signIn(telephone, greta);
  for (const [window, stays] of [[page, true], [telephone, false]] as const) {
    for (const [place, field] of [[at, "Your question"], [at.replace(/ask$/, "search"), "What are you looking for?"]] as const) {
      await window.goto(place);
      const box = window.getByLabel(field);
      await box.fill("when does the tide flood the quay");
      await box.press("Enter");
      await window.getByRole("link", { name: /tides\.md/ }).first().waitFor();
      assert.equal(await box.evaluate((element) => element === document.activeElement), stays, `${field}: whether the focus stays`);
    }
  }
});
