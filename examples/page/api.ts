// The platform's API, as far as this page needs it.

/** A refusal of the platform: a sentence for people, and a code for programs. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
  }
}

/** A company as the tree shows it. */
export interface Company {
  databaseId: number;
  name: string;
  users: { totalCount: number };
  children: { totalCount: number };
}

/** One page of a list: its rows, and where the next page begins. */
export interface Page<T> {
  nodes: T[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

export class Api {
  // The token lives in this page alone, and for 15 minutes: nothing that others could read holds it.
  #token = "";

  constructor(readonly url: string) {}

  /** Signs a person in. Who has two-factor is refused with the code otp_required until otp is there. */
  async signIn(email: string, password: string, otp?: string): Promise<void> {
    const response = await fetch(`${this.url}/auth/token`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ email, password, otp }), // what is undefined is left out
    });
    const answer = await response.json();
    if (!response.ok) throw new Refusal(answer.detail, answer.code);
    this.#token = answer.token;
  }

  signOut(): void {
    this.#token = "";
  }

  /** Who is signed in, and their company: where the tree begins. */
  async me(): Promise<{ email: string; customer: Company }> {
    const data = await this.#query<{ me: { email: string; customer: Company } }>(`{ me { email customer { ${company} } } }`);
    return data.me;
  }

  /** The companies right below one, a page at a time. */
  async children(id: number, after: string | null): Promise<Page<Company>> {
    const data = await this.#query<{ customer: { children: Page<Company> } }>(
      `query($id: ID!, $after: String) { customer(id: $id) { children(first: 50, after: $after) {
        nodes { ${company} } pageInfo { hasNextPage endCursor } } } }`,
      { id, after },
    );
    return data.customer.children;
  }

  async #query<T>(query: string, variables: object = {}): Promise<T> {
    const response = await fetch(`${this.url}/graphql`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${this.#token}` },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors } = await response.json();
    if (errors) throw new Refusal(errors[0].message, errors[0].extensions.code);
    return data;
  }
}

const company = "databaseId name users { totalCount } children { totalCount }";
