package resolvers

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"

	"canopy/internal/models/chat"
	"canopy/internal/models/lexical"
)

// Generated starter prompts: how many, and how long a model may take to think of them.
const (
	promptCount   = 3
	promptTimeout = 10 * time.Second
)

const promptInstructions = `You write conversation starters for an assistant: short questions that a user of it would ask.
Answer with a JSON object {"prompts": [...]} of exactly three strings, in the language of the assistant's description.`

// suggestPrompts makes conversation starters: by the chat model where there is one that answers,
// otherwise from the context's own words.
func (r *Resolver) suggestPrompts(ctx context.Context, name, caption, description string) []string {
	if r.Chat != nil {
		list, err := r.askForPrompts(ctx, name, caption, description)
		if err == nil {
			return list
		}
		r.Log.WarnContext(ctx, "the chat model gave no starter prompts; they are made from the context's words", "error", err)
	}
	return wordPrompts(name, caption, description)
}

func (r *Resolver) askForPrompts(ctx context.Context, name, caption, description string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, promptTimeout)
	defer cancel()
	answer, err := r.Chat.Complete(ctx, chat.Request{JSON: true, MaxTokens: 300, Messages: []chat.Message{
		{Role: chat.System, Content: promptInstructions},
		{Role: chat.User, Content: "Name: " + name + "\nPurpose: " + caption + "\nInstructions: " + description},
	}})
	if err != nil {
		return nil, err
	}
	var said struct {
		Prompts []string `json:"prompts"`
	}
	if err := json.Unmarshal([]byte(answer.Content), &said); err != nil {
		return nil, err
	}
	said.Prompts = said.Prompts[:min(len(said.Prompts), promptCount)]
	var v check
	v.starterPrompts("prompts", said.Prompts)
	if len(said.Prompts) == 0 {
		v.fault("prompts", "is empty")
	}
	return said.Prompts, v.err()
}

// wordPrompts makes starters from the words that a context uses most.
func wordPrompts(name, caption, description string) []string {
	list := []string{"What can " + name + " help me with?"}
	for _, topic := range topics(caption+" . "+description, promptCount-1) {
		list = append(list, "What should I know about "+topic+"?")
	}
	return list
}

// topics are the n words of a text that occur most often, the first ones among equals, in the form
// that they first have. Words that say nothing are left out, as in a search.
func topics(text string, n int) []string {
	type topic struct {
		form         string
		count, place int
	}
	found := map[string]*topic{}
	for i, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' }) {
		for term := range lexical.Terms(word) {
			if len([]rune(word)) < 4 {
				break
			}
			t := found[term.Text]
			if t == nil {
				t = &topic{form: word, place: i}
				found[term.Text] = t
			}
			t.count++
			break
		}
	}
	list := make([]*topic, 0, len(found))
	for _, t := range found {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *topic) int {
		if a.count != b.count {
			return b.count - a.count
		}
		return a.place - b.place
	})
	forms := []string{}
	for _, t := range list[:min(n, len(list))] {
		forms = append(forms, clip(t.form))
	}
	return forms
}
