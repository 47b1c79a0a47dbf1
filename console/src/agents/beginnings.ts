import type { Json } from "./value";

/** Diagrams to begin with. Those that search are given a context's id, or an expression that gives one. */
export const beginnings: Record<"empty" | "find" | "answer" | "call", (contextId: number | string) => Json> = {
  empty: () => ({ steps: [], output: {} }),
  find: (contextId) => ({
    steps: [
      { id: "hits", type: "search", contextId, prompt: "{{ input.question }}", topN: 3 },
      { id: "none", type: "fail", when: "{{ len(steps.hits) == 0 }}", code: "nothing_found", message: "Nothing is known of {{ input.question }}" },
      { id: "best", type: "set", values: { text: "{{ steps.hits[0].content }}" } },
    ],
    output: { answer: "{{ steps.best.text }}", documents: "{{ uniq(map(steps.hits, .docId)) }}" },
  }),
  answer: (contextId) => ({
    steps: [
      { id: "answer", type: "ask", contextId, prompt: "{{ input.question }}" },
    ],
    output: { answer: "{{ steps.answer.text }}", documents: "{{ uniq(map(steps.answer.citations, .docId)) }}" },
  }),
  call: () => ({
    steps: [
      { id: "answer", type: "http", url: "https://example.com/{{ urlEncode(input.word) }}", anyStatus: true },
    ],
    output: { status: "{{ steps.answer.status }}", body: "{{ steps.answer.body }}" },
  }),
};
