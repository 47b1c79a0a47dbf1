package isolation

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"canopy/db"
	"canopy/e2e/platform"
	"canopy/internal/globalid"
	"canopy/internal/intake"
	"canopy/internal/models/lexical"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// onDesk: the account's own callers, as far as the role has the right; for all others there is nothing,
// whether it is there or not.
func onDesk(n needs) answers {
	return shape(shared).found().there(gets404, asRoot, asAncestor, asDescendant, asSibling, asStranger)(n)
}

// inContext is onDesk for what asks for more than its context does: who may read contexts is told that there is none.
func inContext(n needs) answers {
	r := onDesk(n)
	r.absent[asViewer] = gets404
	return r
}

func (a *ask) freshContext() int64 {
	return a.or(func() int64 {
		made, err := a.d.CreateContext(a.owner, resolvers.CreateContextInput{Name: a.unique(), Description: secretMark, Caption: secretMark})
		a.ok(err)
		return made.Context.ID
	})
}

// aDeletedContext is a context that was deleted and can be brought back.
func (a *ask) aDeletedContext() int64 {
	id := a.freshContext()
	a.data.SQL(`UPDATE contexts SET removed_at = now(), erase_at = now() + interval '1 day' WHERE id = $1`, id)
	return id
}

// eraseContext makes a context that will be erased within the minute.
func (a *ask) eraseContext() {
	a.data.SQL(`UPDATE contexts SET removed_at = now(), erase_at = now() + interval '50 seconds' WHERE id = $1`, a.freshContext())
}

// freshToolContext is a context with a tool that runs an agent of the target company.
func (a *ask) freshToolContext() int64 {
	return a.or(func() int64 {
		var agent int64
		a.data.Look(&agent, `INSERT INTO agents (account_id, name, draft) SELECT a.id, $2, '{}' FROM accounts a
			JOIN app_instances i ON i.id = a.app_instance_id JOIN applications p ON p.id = i.application_id
			WHERE a.customer_id = $1 AND p.code = 'builder' RETURNING id`, a.target, secretMark)
		made, err := a.d.CreateContext(a.owner, resolvers.CreateContextInput{Name: a.unique(), ToolsJSON: new(platform.OneTool(agent))})
		a.ok(err)
		return made.Context.ID
	})
}

// freshDocument is a document of a context of the target company, and the context.
func (a *ask) freshDocument() (document, inContext int64) {
	if a.absent {
		return platform.AbsentID, platform.AbsentID
	}
	inContext = a.freshContext()
	row, err := a.d.StoreDocument(a.owner, globalid.ID{Int: inContext}, func() (*resolvers.Upload, error) {
		return &resolvers.Upload{File: intake.File{Name: a.unique() + ".txt", Content: strings.NewReader(secretMark + " is a word")}}, nil
	})
	a.ok(err)
	return row.ID, inContext
}

// freshChunk is a chunk that a search for "word" finds, and its context.
func (a *ask) freshChunk() (chunk, inContext int64) {
	document, inContext := a.freshDocument()
	if a.absent {
		return platform.AbsentID, platform.AbsentID
	}
	sparse, err := lexical.Embed(secretMark + " is a word").MarshalBinary()
	a.ok(err)
	a.data.Look(&chunk, `INSERT INTO chunks (document_id, revision, position, content, overlap_bytes, tokens, sparse)
		VALUES ($1, 1, 0, $2, 0, 4, $3) RETURNING id`, document, secretMark+" is a word", sparse)
	_, err = a.data.DB.Exec(`UPDATE documents SET status = 'ready', chunks = 1 WHERE id = $1`, document)
	a.ok(err)
	if a.copies {
		a.copyVectors(chunk, document, inContext, secretMark+" is a word")
	}
	return chunk, inContext
}

func (a *ask) aDocument() int64 { d, _ := a.freshDocument(); return d }

// aDeletedDocument is a document that was deleted and can be brought back.
func (a *ask) aDeletedDocument() int64 { d, _ := a.freshDeletedDocument(); return d }

func (a *ask) aContextWithDeletedDocument() int64 { _, c := a.freshDeletedDocument(); return c }

// freshDeletedDocument is such a document, and the context that it comes from.
func (a *ask) freshDeletedDocument() (document, contextID int64) {
	document, contextID = a.freshDocument()
	if !a.absent {
		a.ok(a.data.App.Store.HideDocument(a.ctx, &db.Document{ID: document, ContextID: contextID}))
	}
	return document, contextID
}

// freshQuery is what somebody asked of a context, and the context.
func (a *ask) freshQuery() (query, contextID int64) {
	if a.absent {
		return platform.AbsentID, platform.AbsentID
	}
	contextID = a.freshContext()
	a.data.Look(&query, `INSERT INTO context_queries (context_id, user_id, text, mode, hits, relevance) VALUES ($1, $2, $3, 'LEXICAL', 0, 0) RETURNING id`,
		contextID, a.shared, secretMark)
	return query, contextID
}

func (a *ask) aQuery() int64 { q, _ := a.freshQuery(); return q }

func (a *ask) aQueriedContext() int64 { _, c := a.freshQuery(); return c }

// aReprocessedContext is a context whose documents are being processed anew.
func (a *ask) aReprocessedContext() int64 {
	_, id := a.freshDocument()
	if !a.absent {
		a.data.SQL(`INSERT INTO context_reprocessings (context_id, until_id, documents, next_at) VALUES ($1, 0, 1, now() + interval '1 day')`, id)
	}
	return id
}

func (a *ask) aChunk() int64 { k, _ := a.freshChunk(); return k }

func (a *ask) aSearchedContext() int64 { _, c := a.freshChunk(); return c }

func onContext(a *ask) []any { return []any{a.freshContext()} }

func onDocument(a *ask) []any { return []any{a.aDocument()} }

// documentOf is the document of a chunk.
func (a *ask) documentOf(chunk int64) int64 {
	return a.or(func() (id int64) {
		a.data.Look(&id, `SELECT document_id FROM chunks WHERE id = $1`, chunk)
		return id
	})
}

func contextBodyOf(*ask) any {
	return object{"name": "Handbook", "description": "", "caption": "", "toolsJson": "[]"}
}

func contextRows() []restRow {
	rows := []restRow{
		{op: "createContext", body: contextBodyOf, want: shared},
		{op: "listContexts", want: shared},
		{op: "listAllDocuments", want: shared},
		{op: "listAllDocuments/context", query: func(a *ask) string { return "contextId=" + platform.Decimal(a.freshContext()) }, want: shared},
		{op: "getContext", path: onContext, want: onDesk},
		{op: "updateContext", path: onContext, body: contextBodyOf, want: onDesk},
		{op: "deleteContext", path: onContext, want: onDesk},
		{op: "restoreContext", path: func(a *ask) []any { return []any{a.aDeletedContext()} }, want: onDesk},
		{op: "shareContext", path: onContext, body: func(*ask) any { return object{"shareState": 1} }, want: onDesk},
		{op: "uploadDocument", path: onContext, form: []platform.Part{{Field: "file", Name: "a.txt", Content: []byte("some text")}}, want: onDesk},
		{op: "getContextSettings", path: onContext, want: onDesk},
		{op: "updateContextSettings", path: onContext, body: func(*ask) any { return object{"topN": 7} }, want: onDesk},
		{op: "reprocessContext", path: onContext, want: onDesk},
		{op: "getReprocessing", path: func(a *ask) []any { return []any{a.aReprocessedContext()} }, want: onDesk},
		{op: "cancelReprocessing", path: func(a *ask) []any { return []any{a.aReprocessedContext()} }, want: onDesk},
		{op: "listContextQueries", path: func(a *ask) []any { return []any{a.aQueriedContext()} }, want: onDesk},
		{op: "getDocument", path: onDocument, want: onDesk},
		{op: "updateDocument", path: onDocument, body: func(*ask) any { return object{"displayName": "Valves", "attributes": object{"lang": "de"}} }, want: onDesk},
		{op: "getContextDocument", path: onDocument, want: onDesk},
		{op: "getOriginal", path: onDocument, want: onDesk},
		{op: "listChunks", path: func(a *ask) []any { k, _ := a.freshChunk(); return []any{a.documentOf(k)} }, want: onDesk},
		{op: "listChunks/filter", path: func(a *ask) []any { k, _ := a.freshChunk(); return []any{a.documentOf(k)} }, query: func(*ask) string { return "positionFrom=0&orderBy=-position" }, want: onDesk},
		{op: "reprocessDocument", path: onDocument, want: onDesk},
		{op: "restoreDocument", path: func(a *ask) []any { return []any{a.aDeletedDocument()} }, want: onDesk},
		{op: "listDeletedDocuments", path: func(a *ask) []any { return []any{a.aContextWithDeletedDocument()} }, want: onDesk},
		{op: "listDeletedContexts", want: shared},
		{op: "listContextErasures", path: func(a *ask) []any { a.eraseContext(); return nil }, want: shared},
		{op: "listDocuments", path: func(a *ask) []any { _, c := a.freshDocument(); return []any{c} }, want: onDesk},
		{op: "deleteDocument", path: func(a *ask) []any {
			d, c := a.freshDocument()
			return []any{c, d}
		}, want: onDesk},
		{op: "searchContexts", body: func(a *ask) any {
			return object{"prompt": "a word", "contextIds": []int64{a.aSearchedContext()}}
		}, want: onDesk},
		{op: "searchContext", path: func(a *ask) []any { return []any{a.aSearchedContext()} }, body: func(*ask) any {
			return object{"prompt": "a word"}
		}, want: onDesk},
		{op: "askContext", path: func(a *ask) []any { return []any{a.aSearchedContext()} }, body: func(*ask) any {
			return object{"prompt": "a word"}
		}, want: onDesk},
	}
	for i := range rows {
		rows[i].assistant = true
	}
	return rows
}

func contextGraphRows() []graphRow {
	rows := []graphRow{
		{fields: "Query.documents", query: `{ documents(orderBy: [{field: NAME}]) { nodes { displayName context { name } } totalCount } }`, want: shared},
		{fields: "Query.deletedContexts", query: `{ deletedContexts { name } }`, want: shared},
		{
			fields: "Query.contextErasures", query: `{ contextErasures { name progress } }`, want: shared,
			variables: func(a *ask) object { a.eraseContext(); return nil },
		},
		{
			fields: "Context.deletedDocuments", variables: one((*ask).aContextWithDeletedDocument), want: inContext,
			query: `query($id: ID!){ context(id: $id) { deletedDocuments { name } } }`,
		},
		{fields: "Query.contexts", query: `{ contexts { nodes { name caption } totalCount } }`, want: shared},
		{
			fields: "Query.context Context.tools Context.account Context.creator Context.documents", variables: one((*ask).freshContext), want: onDesk,
			query: `query($id: ID!){ context(id: $id) { name tools { name parameters { paramName } } account { id } creator { email } documents { nodes { id } totalCount } } }`,
		},
		{
			fields: "Query.searchContext SearchHit.document SearchHit.chunk SearchHit.passage SearchHit.highlights Document.context Document.warnings Document.chunks Document.creator Chunk.document",
			query: `query($id: ID!){ searchContext(contextId: $id, prompt: "word") { content passage { content } highlights { start } chunk { content document { originalName } }
				document { originalUrl warnings { message } context { name } creator { email } chunks { nodes { content } totalCount } } } }`,
			variables: one((*ask).aSearchedContext), want: onDesk,
		},
		{
			fields: "Query.searchContexts", query: `query($id: ID!){ searchContexts(contextIds: [$id], prompt: "word") { content } }`,
			variables: one((*ask).aSearchedContext), want: onDesk,
		},
		{fields: "ContextTool.parameters", query: `query($id: ID!){ context(id: $id) { tools { parameters { type } } } }`, variables: one((*ask).freshContext), want: onDesk},
		{fields: "ContextTool.agent", query: `query($id: ID!){ context(id: $id) { tools { agent { name } } } }`, variables: one((*ask).freshToolContext), want: onDesk},
		node("Context", rule.Context, (*ask).freshContext, onDesk),
		node("Document", rule.ContextDocuments, (*ask).aDocument, onDesk),
		{
			fields: "Context.reprocessing", query: `query($id: ID!){ context(id: $id) { reprocessing { status documents done } } }`,
			variables: one((*ask).aReprocessedContext), want: onDesk,
		},
		{
			fields: "Context.queries ContextQuery.user", query: `query($id: ID!){ context(id: $id) { queries { nodes { text user { email } } totalCount } } }`,
			variables: one((*ask).aQueriedContext), want: inContext,
		},
		node("ContextQuery", rule.ContextQueries, (*ask).aQuery, onDesk),
		node("Chunk", rule.DocumentChunks, (*ask).aChunk, onDesk),
		mutate("createContext", `context { name }`, func(*ask) object {
			return object{"name": "Handbook", "description": "", "caption": ""}
		}, shared),
		mutate("updateContext", `context { name }`, func(a *ask) object { return object{"id": a.freshContext(), "name": a.unique()} }, onDesk),
		mutate("deleteContext", `deletedId`, one((*ask).freshContext), onDesk),
		mutate("restoreContext", `context { name }`, one((*ask).aDeletedContext), onDesk),
		mutate("shareContext", `context { shareState }`, func(a *ask) object { return object{"id": a.freshContext(), "shareState": 1} }, onDesk),
		mutate("uploadDocument", `document { originalName }`, func(a *ask) object {
			return object{"contextId": a.freshContext(), "file": nil}
		}, onDesk),
		mutate("deleteDocument", `deletedId`, one((*ask).aDocument), onDesk),
		mutate("updateDocument", `document { displayName }`, func(a *ask) object { return object{"id": a.aDocument(), "displayName": a.unique()} }, onDesk),
		mutate("restoreDocument", `document { originalName }`, one((*ask).aDeletedDocument), onDesk),
		mutate("reprocessDocument", `document { status }`, one((*ask).aDocument), onDesk),
		mutate("reprocessContext", `context { name }`, one((*ask).freshContext), onDesk),
		mutate("cancelReprocessing", `context { name reprocessing { status documents } }`, one((*ask).aReprocessedContext), onDesk),
	}
	for i := range rows {
		rows[i].assistant = true
	}
	return append(rows,
		graphRow{fields: "Customer.contexts", query: `{ customer { contexts { nodes { name } } } }`, want: between},
		graphRow{fields: "Account.contexts", query: `query($id: ID!){ account(id: $id) { contexts { nodes { name } } } }`, variables: one(func(a *ask) int64 {
			return a.Account(a.home(), "assistant")
		}), want: between})
}

// multipart is the request of a row whose variables hold a file.
// takesFile tells whether a query is one of the mutations whose input has a file.
func takesFile(query string) bool {
	return strings.Contains(query, "uploadDocument(") || strings.Contains(query, "importCustomer(")
}

func (row graphRow) multipart(a *ask, body object) func() platform.Answer {
	operations := platform.MustJSON(a.T, body)
	raw, contentType := platform.Form(a.T, platform.Part{Field: "operations", Name: "", Content: operations}, platform.Part{Field: "map", Name: "", Content: []byte(`{"0":["variables.input.file"]}`)}, platform.Part{Field: "0", Name: "a.txt", Content: []byte("some text")})
	return func() platform.Answer {
		return a.PostWith("/graphql", a.token(row.assistant), contentType, raw, http.Header{"Graphql-Preflight": {"1"}})
	}
}

// TestContextsOfACustomerBelow reads them with a token for that company's account, and with a login's
// token through the edges of its own company and account.
func TestContextsOfACustomerBelow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := &ask{world: w, as: asAncestor}
	contextID := a.freshContext()
	var account int64
	w.Look(&account, `SELECT account_id FROM contexts WHERE id = $1`, contextID)
	key, plain, err := w.App.Resolver.OperatorCreateKey(t.Context(), w.homes[asAncestor], "wei@coral.example", "below")
	w.ok(err)
	// The ancestor's owner has no permission on the account yet.
	request := resolvers.TokenRequest{GrantType: "client_credentials", ClientID: key.ClientID, ClientSecret: plain, TargetApp: "assistant", AccountID: &account}
	if _, err := w.App.Resolver.ExchangeToken(t.Context(), request); err == nil {
		t.Fatal("a token for an account without a permission on it")
	}
	w.grant(w.target, w.UserID("wei@coral.example"), "assistant", resolvers.ViewerRole)
	issued, err := w.App.Resolver.ExchangeToken(t.Context(), request)
	w.ok(err)
	w.Must(200, "GET", fmt.Sprintf("/context/%d", contextID), issued.AccessToken, nil)
	w.Must(403, "DELETE", fmt.Sprintf("/context/%d", contextID), issued.AccessToken, nil)
}
