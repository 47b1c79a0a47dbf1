package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"canopy/internal/models/openai"
)

func piece(text, reason string) string {
	return fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"content":%q},"finish_reason":%q}]}`, text, reason) + "\n\n"
}

func TestStream(t *testing.T) {
	tests := []struct {
		name, mediaType, body string
		text, reason          string
		err                   error
	}{
		{name: "pieces", body: ": hello\n\n" + `data: {"choices":[{"delta":{"role":"assistant","content":null},"finish_reason":null}]}` + "\n\n" +
			piece("Be", "") + piece("cause.", "") + `data: {"choices":[],"usage":{}}` + "\n\n" + piece("", "stop") + "data: [DONE]\n\n", text: "Be|cause.", reason: "stop"},
		{name: "cut off", body: piece("Be", "length") + "data: [DONE]\n\n", text: "Be", reason: CutOff},
		{name: "no last word", body: piece("Be", "stop"), text: "Be", reason: "stop"},
		{name: "no reason", body: piece("Be", "") + "data:[DONE]", text: "Be", reason: "stop"},
		{name: "it breaks off", body: piece("Be", ""), text: "Be", err: openai.ErrAnswer},
		{name: "not streamed", mediaType: "application/json", body: `{"choices":[{"message":{"content":"Because."}}]}`, text: "Because.", reason: "stop"},
		{name: "an error on the way", body: piece("Be", "") + `data: {"error":{"message":"the key sk-1 is bad"}}` + "\n\n", text: "Be", err: openai.ErrAnswer},
		{name: "refusal", body: `data: {"choices":[{"delta":{"refusal":"No."}}]}` + "\n\n", err: ErrNoContent},
		{name: "no JSON", body: "data: busy\n\n", err: openai.ErrAnswer},
		{name: "too long", body: "data: " + strings.Repeat(" ", maxStream) + "\n\n", err: openai.ErrAnswer},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var asked string
			client := newClient(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				asked = string(body)
				if tt.mediaType == "" {
					tt.mediaType = "text/event-stream; charset=utf-8"
				}
				w.Header().Set("Content-Type", tt.mediaType)
				_, _ = io.WriteString(w, tt.body)
			})
			var list []string
			reason, err := client.Stream(t.Context(), Request{Messages: question}, func(piece string) error {
				list = append(list, piece)
				return nil
			})
			if got := strings.Join(list, "|"); got != tt.text || !errors.Is(err, tt.err) || err == nil && reason != tt.reason || !strings.Contains(asked, `"stream":true`) {
				t.Errorf("%q, %q, %v; asked %s", got, reason, err, asked)
			}
			if err != nil && strings.Contains(err.Error(), "sk-1") {
				t.Errorf("the error tells %v", err)
			}
		})
	}
}

func TestStreamIsTriedOnceMore(t *testing.T) {
	n := 0
	client := newClient(t, func(w http.ResponseWriter, _ *http.Request) {
		if n++; n == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, piece("Because.", "stop"))
	})
	if _, err := client.Stream(t.Context(), Request{Messages: question}, func(string) error { return nil }); err != nil || n != 2 {
		t.Errorf("%v after %d requests", err, n)
	}
}

func TestStreamEnds(t *testing.T) {
	gone := make(chan struct{}, 2)
	client := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, piece("Be", ""))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		gone <- struct{}{}
	})
	t.Run("with its context", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		want := errors.New("the client has gone")
		_, err := client.Stream(ctx, Request{Messages: question}, func(string) error { cancel(want); return nil })
		if <-gone; !errors.Is(err, want) {
			t.Error(err)
		}
	})
	t.Run("when nobody listens", func(t *testing.T) {
		want := errors.New("enough")
		_, err := client.Stream(t.Context(), Request{Messages: question}, func(string) error { return want })
		if <-gone; !errors.Is(err, want) {
			t.Error(err)
		}
	})
	if _, err := client.Stream(t.Context(), Request{}, nil); !errors.Is(err, ErrNoMessages) {
		t.Error(err)
	}
}
