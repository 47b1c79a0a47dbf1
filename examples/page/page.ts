// A page that signs a person in and shows the companies that they reach, as a tree that opens level by
// level. What comes from the platform is put into the page as text, never as HTML.
import { Canopy, CanopyError, Session } from "canopy-client";
import { Children, type Company, Me } from "./page.gql";

const session = new Session({
  url: document.querySelector<HTMLMetaElement>('meta[name="canopy-url"]')!.content,
  onEnd: () => show(false),
});
const canopy = new Canopy(session);

const form = element("sign-in", HTMLFormElement);
const email = element("email", HTMLInputElement);
const password = element("password", HTMLInputElement);
const code = element("code", HTMLLabelElement);
const otp = element("otp", HTMLInputElement);
const problem = element("problem", HTMLElement);
const companies = element("companies", HTMLElement);

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void told(async () => {
    await session.signIn({ email: email.value, password: password.value, otp: otp.value || undefined });
    await open();
    form.reset();
  });
});

element("sign-out", HTMLButtonElement).addEventListener("click", () => {
  void told(async () => {
    show(false);
    await session.signOut();
  });
});

// Who has signed in before need not do so again.
void told(async () => {
  if (await session.resume()) await open();
});

/** Shows who has signed in, and their company: where the tree begins. */
async function open(): Promise<void> {
  const { me } = await canopy.request(Me);
  element("who", HTMLElement).textContent = me.email;
  element("tree", HTMLElement).replaceChildren(branch(me.customer));
  show(true);
}

function show(signedIn: boolean): void {
  form.hidden = signedIn;
  code.hidden = true;
  companies.hidden = !signedIn;
  if (!signedIn) element("tree", HTMLElement).replaceChildren();
}

/** A company: a line, and below it, once it is opened, the companies right below. */
function branch(company: Company): HTMLElement {
  const name = document.createElement("span");
  name.textContent = company.name;
  const people = document.createElement("span");
  people.className = "people";
  const n = company.users.totalCount;
  people.textContent = ` ${n} ${n === 1 ? "person" : "people"}`;
  if (company.children.totalCount === 0) {
    const leaf = document.createElement("div");
    leaf.append(name, people);
    return leaf;
  }
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  summary.append(name, people);
  const list = document.createElement("ul");
  details.append(summary, list);
  let loading = false;
  details.addEventListener("toggle", async () => {
    if (!details.open || loading || list.hasChildNodes()) return;
    loading = true;
    await told(() => more(company, list, null));
    loading = false;
  });
  return details;
}

/** Adds a page of the companies below to a list, and a button where there are more of them. */
async function more(company: Company, list: HTMLElement, after: string | null): Promise<void> {
  const { customer } = await canopy.request(Children, { id: company.databaseId, after });
  if (!customer) return;
  const page = customer.children;
  for (const child of page.nodes) {
    const item = document.createElement("li");
    item.append(branch(child));
    list.append(item);
  }
  if (!page.pageInfo.hasNextPage) return;
  const button = document.createElement("button");
  button.textContent = "More";
  button.addEventListener("click", () => {
    button.remove();
    void told(() => more(company, list, page.pageInfo.endCursor));
  });
  list.append(button);
}

/** Does something, and tells the reader where that failed. */
async function told(work: () => Promise<void>): Promise<void> {
  problem.textContent = "";
  try {
    await work();
  } catch (error) {
    if (!(error instanceof CanopyError)) throw error;
    if (error.reason === "otp_required") code.hidden = false;
    problem.textContent = error.message;
  }
}

/** The element of the page with an id, which must be of a type. */
function element<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`the page has no #${id}`);
  return found;
}
