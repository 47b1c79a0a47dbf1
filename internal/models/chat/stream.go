package chat

import (
	"context"
	"encoding/json"
	"fmt"

	"canopy/internal/models/openai"
)

// maxStream is the longest answer that is taken piece by piece, in bytes: each has some 200 around it.
const maxStream = 8 << 20

type streamPiece struct {
	Choices []struct {
		Delta, Message struct {
			Content string `json:"content"`
			Refusal string `json:"refusal"`
		}
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Error json.RawMessage `json:"error"`
}

// Stream hands the model's reply to a conversation to take, piece by piece as it is written, and gives why it ended: "stop", or
// CutOff. A server that does not stream gives one piece. Errors are those of openai.Client.Stream, ErrNoMessages, and
// openai.ErrAnswer for a reply that breaks off. That of take ends the reply.
func (c *Client) Stream(ctx context.Context, request Request, take func(piece string) error) (reason string, err error) {
	if len(request.Messages) == 0 {
		return "", ErrNoMessages
	}
	content, err := json.Marshal(completionRequest{
		Model: c.model, Messages: request.Messages, Temperature: request.Temperature, MaxTokens: request.MaxTokens, Stream: true,
	})
	if err != nil {
		return "", fmt.Errorf("chat: %w", err)
	}
	ended, err := c.client.Stream(ctx, "/chat/completions", content, maxStream, func(data []byte) error {
		text, ended, err := read(data)
		if ended != "" {
			reason = ended
		}
		if err != nil || text == "" {
			return err
		}
		return take(text)
	})
	if err == nil && reason == "" {
		if !ended {
			return "", fmt.Errorf("%w: it breaks off", openai.ErrAnswer)
		}
		reason = "stop"
	}
	return reason, err
}

// read reads one piece. A piece without choices tells of something else, such as the tokens that were used.
func read(data []byte) (text, reason string, err error) {
	var p streamPiece
	if err := json.Unmarshal(data, &p); err != nil {
		return "", "", fmt.Errorf("%w: %w", openai.ErrAnswer, err)
	}
	if len(p.Error) > 0 && string(p.Error) != "null" {
		return "", "", fmt.Errorf("%w: the server gives up", openai.ErrAnswer)
	}
	if len(p.Choices) == 0 {
		return "", "", nil
	}
	choice := p.Choices[0]
	if choice.Delta.Refusal != "" || choice.Message.Refusal != "" {
		return "", "", fmt.Errorf("%w: a refusal", ErrNoContent)
	}
	return choice.Delta.Content + choice.Message.Content, choice.FinishReason, nil
}
