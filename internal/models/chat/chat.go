// Package chat asks a language model behind an OpenAI-compatible /v1/chat/completions.
package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"canopy/internal/models/openai"
)

// maxAnswer is the longest answer that is taken, in bytes.
const maxAnswer = 4 << 20

// Roles of a message.
const (
	System    = "system"
	User      = "user"
	Assistant = "assistant"
)

// Message is one turn of a conversation.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Request is what to ask. Zero values leave a setting to the server.
type Request struct {
	Messages    []Message
	Temperature *float64
	MaxTokens   int
	JSON        bool // asks Complete for an answer that is one JSON object
}

// Answer is the model's reply.
type Answer struct {
	Content      string
	FinishReason string // "stop", or CutOff
	// Tokens that were used, as far as the server tells.
	PromptTokens     int
	CompletionTokens int
}

// CutOff is the reason of a reply that is not whole, as it became too long.
const CutOff = "length"

// ErrNoContent is the error for a reply without text: a refusal, or a call of a tool.
var ErrNoContent = errors.New("chat: the model gave no text")

// ErrNoMessages is the error for a request without messages.
var ErrNoMessages = errors.New("chat: nothing to ask")

// Client asks one model of one server. It is safe for concurrent use.
type Client struct {
	model  string
	client *openai.Client
}

// New checks a configuration and makes a client; the error is openai.ErrConfig.
func New(server openai.Config, model string) (*Client, error) {
	if model == "" {
		return nil, fmt.Errorf("%w: the chat model has no name", openai.ErrConfig)
	}
	client, err := openai.New(server)
	if err != nil {
		return nil, err
	}
	return &Client{model: model, client: client}, nil
}

// Model returns the model's name.
func (c *Client) Model() string { return c.model }

// Close closes idle connections.
func (c *Client) Close() { c.client.CloseIdle() }

type completionRequest struct {
	Model       string    `json:"model"`
	Messages    []Message `json:"messages"`
	Temperature *float64  `json:"temperature,omitempty"`
	MaxTokens   int       `json:"max_tokens,omitempty"`
	Format      *format   `json:"response_format,omitempty"`
	Stream      bool      `json:"stream,omitempty"`
}

type format struct {
	Type string `json:"type"`
}

type completionAnswer struct {
	Choices []struct {
		Message struct {
			Content string `json:"content"`
			Refusal string `json:"refusal"`
		} `json:"message"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
	} `json:"usage"`
}

// Complete returns the model's reply to a conversation. Errors are those of openai.Client.Post,
// ErrNoMessages, and ErrNoContent.
func (c *Client) Complete(ctx context.Context, request Request) (Answer, error) {
	if len(request.Messages) == 0 {
		return Answer{}, ErrNoMessages
	}
	body := completionRequest{Model: c.model, Messages: request.Messages, Temperature: request.Temperature, MaxTokens: request.MaxTokens}
	if request.JSON {
		body.Format = &format{Type: "json_object"}
	}
	content, err := json.Marshal(body)
	if err != nil {
		return Answer{}, fmt.Errorf("chat: %w", err)
	}
	var answer completionAnswer
	if err := c.client.Post(ctx, "/chat/completions", content, &answer, maxAnswer); err != nil {
		return Answer{}, err
	}
	return reply(answer)
}

func reply(answer completionAnswer) (Answer, error) {
	if len(answer.Choices) == 0 {
		return Answer{}, fmt.Errorf("%w: no choices", openai.ErrAnswer)
	}
	choice := answer.Choices[0]
	if strings.TrimSpace(choice.Message.Content) == "" {
		if choice.Message.Refusal != "" {
			return Answer{}, fmt.Errorf("%w: %s", ErrNoContent, choice.Message.Refusal)
		}
		return Answer{}, fmt.Errorf("%w: finish reason %q", ErrNoContent, choice.FinishReason)
	}
	return Answer{
		Content:          choice.Message.Content,
		FinishReason:     choice.FinishReason,
		PromptTokens:     answer.Usage.PromptTokens,
		CompletionTokens: answer.Usage.CompletionTokens,
	}, nil
}
