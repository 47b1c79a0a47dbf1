import assert from "node:assert/strict";
import test from "node:test";
import { accessible, ada, greta, mira, open, pdfOf, signIn, url } from "./visit.js";

const text = (words: string) => Buffer.from(words);
const tides = { name: "tides.md", mimeType: "text/markdown", buffer: text("# Harbour\n\nThe spring tide floods the quay in March.\n\n# Kitchen\n\nSoup is served at noon.\n") };
// It begins as a PDF does, and is none: it is taken, and can't be read.
const broken = { name: "broken.pdf", mimeType: "application/pdf", buffer: text("%PDF-1.7\nnothing else\n") };
const empty = { name: "empty.txt", mimeType: "text/plain", buffer: text("") };
const picture = { name: "quay.png", mimeType: "image/png", buffer: text("no document") };

test("a context from its first document to the place of a sentence, and its end", async (t) => {
  const page = await open(t);
  await signIn(page, ada, "/console/contexts");
  await page.getByRole("heading", { name: "No context yet" }).waitFor();
  await accessible(page, "contexts-none");
  await page.getByRole("link", { name: "Create a context" }).first().click();
  const panel = page.getByRole("region", { name: "Create a context" });
  await panel.getByLabel("Name").fill("Harbour office");
  await panel.getByLabel("What it is for").fill("Tides and soup");
  await accessible(page, "contexts-create");
  await panel.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("heading", { name: "No documents yet" }).waitFor();
  await accessible(page, "documents-none");

  // Files of every fate at once.
  await page.getByLabel("Add documents").first().setInputFiles([tides, broken, empty, picture]);
  const uploads = page.getByRole("region", { name: "Files on their way" });
  await uploads.getByText("2 of 3 files sent").waitFor();
  await uploads.getByText("empty.txt: The file is empty.").waitFor();
  await uploads.getByText(/Left out.*: quay\.png/).waitFor();
  const list = page.getByRole("listbox", { name: "Documents" });
  await list.getByRole("option", { name: /tides\.md.*Searchable/i }).waitFor();
  await list.getByRole("option", { name: /broken\.pdf.*Failed/i }).waitFor();
  await page.getByRole("button", { name: "Try again: broken.pdf" }).waitFor();
  await accessible(page, "documents");
  await page.getByRole("button", { name: "Try again: broken.pdf" }).click();
  await list.getByRole("option", { name: /broken\.pdf.*Failed/i }).waitFor();
  await uploads.getByRole("button", { name: "Dismiss" }).click();

  await page.getByRole("link", { name: "Search", exact: true }).click();
  await page.getByLabel("What are you looking for?").fill("when does the tide flood the quay");
  await page.keyboard.press("Enter");
  await page.locator("mark", { hasText: "tide" }).first().waitFor();
  await accessible(page, "search");
  // Without a chat model the passages are the answer.
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  await page.getByText("No chat model is set up").waitFor();
  await page.getByRole("region", { name: "Answer" }).getByText("The spring tide floods the quay in March.").waitFor();
  await accessible(page, "answer-passages");
  await page.getByLabel("Your question").fill("who painted the ceiling");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "The documents don’t say" }).waitFor();
  await page.goBack();
  await page.getByRole("link", { name: /^Open the document here: tides\.md/ }).first().click();
  await page.getByRole("article").getByText("floods").waitFor();
  assert.match(page.url(), /\?chunk=0&prompt=.*&from=\d+&to=\d+$/);
  await accessible(page, "document");
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download the file" }).click()]);
  assert.equal(file.suggestedFilename(), "tides.md");
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("tides.md is deleted. It can be brought back for 30 days.").waitFor();
  await page.getByRole("link", { name: "Recently deleted" }).click();
  await accessible(page, "documents-deleted");
  await page.getByRole("button", { name: "Bring back tides.md" }).click();
  await page.getByRole("heading", { name: "Nothing was deleted lately" }).waitFor();
  await page.goBack();
  await page.getByRole("option", { name: /tides\.md/ }).click();
  await page.getByRole("button", { name: "Delete it for good" }).click();
  await page.getByRole("dialog", { name: "Delete tides.md for good?" }).getByRole("button", { name: "Delete it for good" }).click();
  await list.getByRole("option", { name: /broken\.pdf/ }).waitFor();
  await list.getByRole("option", { name: /tides\.md/ }).waitFor({ state: "detached" });

  await page.getByRole("link", { name: "Settings", exact: true }).click();
  await page.getByRole("heading", { name: "Delete this context" }).waitFor();
  await accessible(page, "context-settings");
  await page.getByRole("button", { name: "Delete the context" }).click();
  await page.getByText("Harbour office is deleted. It can be brought back for 30 days.").waitFor();
  await page.getByRole("option", { name: /Harbour office/ }).waitFor({ state: "detached" });
  await accessible(page, "context-deleted");
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("option", { name: /Harbour office/ }).click();
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("button", { name: "Delete it for good" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete Harbour office for good?" });
  assert.equal(await dialog.getByRole("button", { name: "Delete it for good" }).isDisabled(), true);
  await dialog.getByLabel("Type “Harbour office” to go on").fill("Harbour office");
  await dialog.getByRole("button", { name: "Delete it for good" }).click();
  await page.getByRole("heading", { name: "No context yet" }).waitFor();
});

test("how far it is that all documents are read anew, and its end", async (t) => {
  const page = await open(t);
  await signIn(page, greta, "/console/contexts/new");
  await page.getByLabel("Name", { exact: true }).fill("Long reads");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  // Long enough, and so many, that it is not over before it is ended.
  const long = [1, 2, 3, 4].map((number) => ({ name: `long-${number}.md`, mimeType: "text/markdown", buffer: text("The spring tide floods the quay in March. ".repeat(30_000)) }));
  await page.getByLabel("Add documents").first().setInputFiles(long);
  for (const { name } of long) await page.getByRole("option", { name: new RegExp(`${name}.*Searchable`, "i") }).waitFor();
  await page.getByRole("link", { name: "Settings", exact: true }).click();
  await page.getByRole("button", { name: "Read 4 documents anew" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Read 4 documents anew" }).click();
  await page.getByRole("status").getByText(/Read anew: \d of 4/).waitFor();
  await page.getByRole("progressbar", { name: "How far reading anew is" }).waitFor();
  await page.getByRole("button", { name: "End it" }).click();
  await page.getByText("It is ended.").waitFor();
  await page.waitForFunction(() => document.activeElement !== document.body); // the button has gone
  await page.getByText(/Ended with \d of 4 read anew:/).waitFor();
  await accessible(page, "context-anew-ended");
  await page.getByRole("button", { name: "Read 4 documents anew" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Read 4 documents anew" }).click();
  await page.getByText("All were read anew:").waitFor(); // without a click
});

test("settings are changed and taken back; what is wrong stands beside its field; all documents are read anew", async (t) => {
  const page = await open(t);
  await signIn(page, greta, "/console/contexts/new");
  await page.getByLabel("Name", { exact: true }).fill("Alpine handbook");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  // Dropped on whichever page of the context, files are added to it.
  await page.getByRole("link", { name: "Search", exact: true }).click();
  await page.getByRole("heading", { name: "Nothing to search yet" }).waitFor();
  const dragged = await page.evaluateHandle((words) => {
    const data = new DataTransfer();
    data.items.add(new File([words], "tides.md", { type: "text/markdown" }));
    return data;
  }, tides.buffer.toString());
  await page.dispatchEvent("main", "dragover", { dataTransfer: dragged });
  await page.getByText("Drop to add to Alpine handbook").waitFor();
  await page.dispatchEvent("main", "drop", { dataTransfer: dragged });
  await page.getByRole("option", { name: /tides\.md.*Searchable/i }).waitFor();
  await page.getByRole("link", { name: "Settings", exact: true }).click();
  await page.getByLabel("Name", { exact: true }).fill("Staff handbook");
  const model = await page.getByLabel("Model", { exact: true }).inputValue();
  await page.getByLabel("Model", { exact: true }).fill("no-such-model");
  await page.getByRole("button", { name: "Save" }).first().click();
  await page.getByText(/no-such-model/).waitFor();
  await page.getByLabel("Model", { exact: true }).fill(model);
  await page.getByLabel("Tokens of a piece").fill("16");
  await page.getByRole("button", { name: "Save" }).first().click();
  await page.getByRole("heading", { level: 1, name: "Staff handbook" }).waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("heading", { level: 1, name: "Alpine handbook" }).waitFor();
  await page.getByLabel("Tokens of a piece").fill("16");
  await page.getByRole("button", { name: "Save" }).first().click();
  await page.getByText("Saved").first().waitFor();
  await page.getByRole("button", { name: "Read 1 document anew" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Read 1 document anew" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByText("All were read anew:").waitFor(); // without a click
  await page.getByRole("switch", { name: /^Everyone on the account/ }).click();
  await page.getByRole("button", { name: "Save" }).last().click();
  await page.getByText("shared", { exact: true }).waitFor();

  // Who may read it sees it, and nothing that they may not do.
  const other = await open(t);
  await signIn(other, mira, "/console/contexts");
  await other.getByRole("option", { name: /Alpine handbook/ }).click();
  await other.getByRole("option", { name: /tides\.md/ }).waitFor();
  assert.equal(await other.getByRole("button", { name: "Add documents" }).count(), 0);
  await other.getByRole("link", { name: "Settings", exact: true }).click();
  await other.getByText("Tokens of a piece").waitFor();
  assert.equal(await other.getByRole("button", { name: "Delete the context" }).count(), 0);
});

test("what is asked is kept no longer: what is lost is said before, and nothing claims to bring it back", async (t) => {
  const page = await open(t);
  await signIn(page, greta, "/console/contexts/new");
  await page.getByLabel("Name", { exact: true }).fill("Asked of");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("link", { name: "Settings", exact: true }).click();
  const keeps = page.getByRole("switch", { name: "Keep what is asked" });
  await keeps.press(" ");
  await page.getByRole("button", { name: "Save" }).first().click();
  await page.getByText("Saved", { exact: true }).waitFor();
  await keeps.press(" ");
  await page.getByRole("button", { name: "Save" }).first().click();
  const dialog = page.getByRole("dialog", { name: "Keep no longer what is asked of Asked of?" });
  await dialog.getByText("No question is kept yet").waitFor();
  await accessible(page, "questions-forget");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.reload();
  assert.equal(await keeps.isChecked(), true, "what was cancelled was done");
  await keeps.press(" ");
  await page.getByRole("button", { name: "Save" }).first().click();
  await dialog.getByRole("button", { name: "Save, and delete them" }).click();
  await page.getByText("What is asked is no longer kept, and what was kept is deleted.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Undo" }).count(), 0, "it can’t be undone");
  // What was changed beside it is taken back, and that alone.
  await keeps.press(" ");
  await page.getByRole("button", { name: "Save" }).first().click();
  await page.getByText("Saved", { exact: true }).waitFor();
  await page.reload();
  await keeps.press(" ");
  await page.getByLabel("What it is for").fill("Something else");
  await page.getByRole("button", { name: "Save" }).first().click();
  await dialog.getByRole("button", { name: "Save, and delete them" }).click();
  await page.getByRole("alert").filter({ hasText: "Undo takes the other changes back" }).getByRole("button", { name: "Undo" }).click();
  await page.waitForFunction(() => [...document.querySelectorAll("input")].every(({ value }) => value !== "Something else"));
  assert.equal(await keeps.isChecked(), false);
});

test("a busy platform and a lost connection are told in words, and what was refused is sent again", async (t) => {
  const page = await open(t, { complaints: /Failed to load resource/ });
  await signIn(page, greta, "/console/contexts/new");
  await page.getByLabel("Name", { exact: true }).fill("Slow harbour");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("heading", { name: "No documents yet" }).waitFor();
  const uploads = page.getByRole("region", { name: "Files on their way" });
  const isUpload = (body: string | null) => body?.includes("uploadDocument") ?? false;

  const full = { message: "the documents of this context may have 100 bytes", extensions: { code: "PAYLOAD_TOO_LARGE" } };
  await page.route(`${url}/graphql`, (route) => (isUpload(route.request().postData()) ? route.fulfill({ status: 413, json: { errors: [full] } }) : route.fallback()));
  await page.getByLabel("Add documents").first().setInputFiles([tides]);
  await uploads.getByText(/too large for this context/).waitFor();
  await page.unrouteAll();
  await page.route(`${url}/graphql`, (route) => (isUpload(route.request().postData()) ? route.abort() : route.fallback()));
  await uploads.getByRole("button", { name: "Try again: tides.md" }).click();
  await uploads.getByText(/The connection was lost/).waitFor();
  await page.unrouteAll();
  await uploads.getByRole("button", { name: "Try again: tides.md" }).click();
  await page.getByRole("option", { name: /tides\.md.*Searchable/i }).waitFor();
});

test("a document’s file, its text and its pieces stand beside each other, and go to the same page", async (t) => {
  const page = await open(t);
  const sentences = ["The boat house opens at eight.", "Life jackets are in the red locker.", "In a storm the harbour master raises two black flags."];
  const handbook = { name: "handbook.pdf", mimeType: "application/pdf", buffer: await pdfOf(t, sentences.map((words) => `${words} `.repeat(90))) };
  await signIn(page, ada, "/console/contexts/new");
  await page.getByLabel("Name", { exact: true }).fill("Boat house");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByLabel("Add documents").first().setInputFiles([handbook, tides]);
  await page.getByRole("option", { name: /handbook\.pdf.*Searchable/i }).waitFor();
  await page.getByRole("option", { name: /tides\.md.*Searchable/i }).waitFor();
  await page.getByRole("link", { name: "Search", exact: true }).click();
  await page.getByLabel("What are you looking for?").fill("black flags in a storm");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: /^Open the document here: handbook\.pdf/ }).first().click();

  // The sentence is marked in its piece, and its page of the file is open.
  const sentence = page.getByRole("article").locator("mark", { hasText: "two black flags" });
  await sentence.waitFor();
  await page.waitForFunction(() => {
    const mark = document.querySelector(".chunk[data-at] mark")?.getBoundingClientRect();
    const within = document.querySelector(".chunks")?.getBoundingClientRect();
    return mark && within && mark.top >= within.top && mark.bottom <= within.bottom;
  });
  const file = page.getByTitle("The file handbook.pdf");
  assert.match((await file.getAttribute("src"))!, /^blob:.*&page=3$/);
  await page.waitForFunction(() => document.querySelector("iframe")?.contentDocument === null || document.querySelector("iframe")?.contentDocument?.contentType === "application/pdf");
  assert.equal(await page.getByLabel("Page", { exact: true }).inputValue(), "3");
  await accessible(page, "document-file");

  await page.getByRole("button", { name: "Page before" }).click();
  await page.waitForURL(/[?&]page=2$/);
  assert.match((await file.getAttribute("src"))!, /&page=2$/);
  await page.getByRole("article").getByText("Life jackets").first().waitFor();
  await page.getByText("Running text").click();
  await page.getByLabel("Page", { exact: true }).fill("1");
  await page.keyboard.press("Enter");
  await page.getByRole("article").getByText("opens at eight").first().waitFor();
  await page.getByText("from page 1", { exact: true }).waitFor();
  assert.equal(await page.getByText(/^Piece 1 of/).count(), 0, "a text that runs on names its pieces");
  await accessible(page, "document-text");
  await page.getByText("About it", { exact: true }).click();
  await page.getByText("application/pdf").waitFor();
  assert.equal(await file.count(), 0);

  // A text is shown by its characters. On a telephone the file is loaded by those who ask for it.
  await page.goto(page.url().replace(/\/documents.*/, ""));
  await page.getByRole("option", { name: /tides\.md/ }).click();
  await page.getByLabel("The file", { exact: true }).getByText("# Kitchen").waitFor();
  await page.setViewportSize({ width: 390, height: 800 });
  await page.getByText("Name of the file").waitFor();
  await page.getByText("The file", { exact: true }).click();
  await page.getByLabel("The file", { exact: true }).getByText("# Kitchen").waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, "the document is wider than a telephone");
});

test("what is offered to ask is made of a document, and has an answer", async (t) => {
  const page = await open(t);
  await signIn(page, ada, "/console/contexts/new");
  const panel = page.getByRole("region", { name: "Create a context" });
  await panel.getByLabel("Name").fill("Plant rules");
  await panel.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByLabel("Add documents").first().setInputFiles([tides]);
  await page.getByRole("option", { name: /tides\.md.*Searchable/i }).waitFor();
  await page.getByRole("link", { name: "Ask" }).click();
  await page.getByRole("link", { name: "Harbour", exact: true }).click();
  await page.getByText(/spring tide floods the quay/).first().waitFor();
  assert.equal(await page.getByText("The documents don’t say").count(), 0);
  assert.doesNotMatch(await page.getByRole("region", { name: "Answer" }).innerText(), /#/, "Markdown is shown as it is written");
});
