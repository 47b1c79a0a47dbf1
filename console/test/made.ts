// What tests make by the graph, as a program would, before they look at it.
import assert from "node:assert/strict";
import { linkFor, type Person, url } from "./visit.js";

/** Asks the graph as somebody, as a program would. */
export async function graph<T>({ email, password }: Person, query: string, variables: object): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  const session = await fetch(`${url}/auth/session`, { method: "POST", headers, body: JSON.stringify({ email, password }) });
  const { token } = await session.json() as { token: string };
  const answer = await fetch(`${url}/graphql`, { method: "POST", headers: { ...headers, Authorization: `Bearer ${token}` }, body: JSON.stringify({ query, variables }) });
  const { data, errors } = await answer.json() as { data: T; errors?: unknown };
  assert.equal(errors, undefined);
  return data;
}

/** A diagram that reads the number n, and gives one more where it is more than 1. */
export const counting = {
  steps: [{ id: "first", type: "set", values: { n: "{{ input.n }}" } }, { id: "second", type: "set", when: "{{ steps.first.n > 1 }}", values: { n: "{{ steps.first.n + 1 }}" } }],
  output: { n: "{{ steps.second?.n ?? 0 }}" },
};

/** Makes an agent, and publishes it where that is asked for. */
export async function made(by: Person, name: string, diagram: object, published = true, accountId?: number): Promise<{ id: string; databaseId: number }> {
  const { createAgent: { agent } } = await graph<{ createAgent: { agent: { id: string; databaseId: number } } }>(
    by, "mutation($input: CreateAgentInput!) { createAgent(input: $input) { agent { id databaseId } } }", { input: { name, diagram, accountId } });
  if (published) await graph(by, "mutation($id: ID!) { publishAgent(input: { id: $id }) { agent { id } } }", { id: agent.id });
  return agent;
}

/** Gives somebody a role in an application of companies, which invites whoever is new there: without another word, that of a viewer of tenant management. */
export async function added(by: Person, email: string, companies: readonly string[], { role: named = "Viewer", application: code = "tenant" } = {}): Promise<void> {
  const { roles } = await graph<{ roles: { id: string; name: string; application: { code: string } }[] }>(by, "{ roles { id name application { code } } }", {});
  const role = roles.find(({ name, application }) => name === named && application.code === code)!;
  for (const search of companies) {
    const { customers: { nodes } } = await graph<{ customers: { nodes: { name: string; accounts: { nodes: { id: string; application: { code: string } }[] } }[] } }>(
      by, "query($search: String!) { customers(filter: { search: $search }) { nodes { name accounts { nodes { id application { code } } } } } }", { search });
    const account = nodes.find(({ name }) => name === search)!.accounts.nodes.find(({ application }) => application.code === code)!;
    await graph(by, "mutation($input: CreatePermissionInput!) { createPermission(input: $input) { permission { id } } }", { input: { accountId: account.id, roleId: role.id, email } });
  }
}

/** Sets the password of somebody who was invited, by the link that they were sent. */
export async function setUp(email: string): Promise<Person> {
  const password = "correct horse battery staple";
  const token = new URLSearchParams(new URL(await linkFor(email)).hash.slice(1)).get("token");
  const set = await fetch(`${url}/auth/setup`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ token, password }) });
  assert.equal(set.status, 204);
  return { email, password };
}
