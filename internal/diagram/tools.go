package diagram

import (
	"context"
	"net/http"
)

// Tools are what steps do to the world. Implementations must obey the context, which carries the
// step's deadline, and judge by themselves what the run may reach. The text of an error is shown
// to the run's owner, so it must be one that may be shown; an *Error is passed on as it is.
type Tools interface {
	Search(ctx context.Context, r SearchRequest) ([]Hit, error)
	Ask(ctx context.Context, r AskRequest) (*Answer, error)
	Chat(ctx context.Context, r ChatRequest) (*ChatAnswer, error)
	// HTTP sends one request and returns the answer of any status; it follows no redirects.
	HTTP(ctx context.Context, r HTTPRequest) (*HTTPAnswer, error)
	// Secrets gives the values of those of the names that there are.
	Secrets(ctx context.Context, names []string) (map[string]string, error)
}

// Lookup is where steps look, and what for. A nil TopN means the context's own.
type Lookup struct {
	ContextID int64
	Prompt    string
	TopN      *int
}

// SearchRequest asks for the chunks of a context that are closest to a prompt. A nil ScoreThreshold means the context's own.
type SearchRequest struct {
	Lookup
	ScoreThreshold *float64
}

// Hit is one found chunk, with the members that the search of REST shows.
type Hit struct {
	ID         int64
	DocID      int64
	Content    string
	Similarity float64
}

// AskRequest asks what the documents of a context say. A nil MinRelevance means the server's.
type AskRequest struct {
	Lookup
	MinRelevance *float64
}

// Answer is what they say. Warnings are codes of what a reader should know of it.
type Answer struct {
	Text         string
	NothingFound bool
	Citations    []Citation
	Warnings     []string
}

// Citation says from which chunk a part of an answer is: Start and End are characters of its text.
type Citation struct {
	Start, End int
	Quote      string
	ID, DocID  int64
}

// ChatRequest asks a chat model to go on with a conversation. An empty Model means the server's.
type ChatRequest struct {
	Model    string
	Messages []Message
}

// Message is one turn; Role is system, user or assistant.
type Message struct{ Role, Content string }

// ChatAnswer is the model's turn.
type ChatAnswer struct{ Content, Model string }

// HTTPRequest is one outbound request.
type HTTPRequest struct {
	Method, URL string
	Header      http.Header
	Body        []byte
}

// HTTPAnswer is what came back. Body is not the whole where it was longer than is read, Truncated, and
// where it broke off: Broken says why.
type HTTPAnswer struct {
	Status    int
	Header    http.Header
	Body      []byte
	Truncated bool
	Broken    error
}
