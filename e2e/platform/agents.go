package platform

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// OneTool defines one tool that runs an agent.
func OneTool(agent int64) string {
	return fmt.Sprintf(`[{"id":1,"name":"run_it","description":"Runs it","action":"Run Agent","agentId":%d}]`, agent)
}

// Lookup is a diagram that searches the context of its input.
const Lookup = `{"steps":[{"id":"found","type":"search","contextId":"{{ input.context }}","prompt":"{{ input.question }}","topN":2}],
	"output":{"hits":"{{ steps.found }}"}}`

// Start starts a run and gives its job key.
func (s *Platform) Start(token string, agent int64, input any) string {
	s.T.Helper()
	return s.Must(http.StatusAccepted, "POST", "/CognitiveDiagram/"+Decimal(agent)+"/ExecuteAsJob", token, input).JSON(s.T).(map[string]any)["jobKey"].(string)
}

// LookUp runs the diagram lookup.
func (s *Platform) LookUp(token string, agent, contextID int64, question string) Answer {
	s.T.Helper()
	return s.Poll(token, s.Start(token, agent, map[string]any{"context": contextID, "question": question}))
}

const CountingSteps = `{"steps":[{"id":"a","type":"set","values":{"n":1}},{"id":"b","type":"set","values":{"n":"{{ steps.a.n + 1 }}"}}],"output":{"n":"{{ steps.b.n }}"}}`

// PostingSteps is a diagram of n steps that each post to a receiver which run and which step it is.
func PostingSteps(n int, url string) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`{"id":"s%d","type":"http","method":"POST","url":"%s","body":{"type":"step","id":"run {{ input.run }}, step %[1]d"}}`, i, url))
	}
	return fmt.Sprintf(`{"steps":[%s],"output":{"status":"{{ steps.s%d.status }}"}}`, strings.Join(list, ","), n-1)
}

// Publish makes an agent and publishes it.
func (s *Platform) Publish(token, diagram string) int64 {
	s.T.Helper()
	made := s.Mutate(token, "createAgent", "agent { databaseId enabled runnable }", map[string]any{"name": "Greeter", "diagram": json.RawMessage(diagram)})
	id := int64(made["agent"].(map[string]any)["databaseId"].(float64))
	s.Mutate(token, "publishAgent", "agent { runnable } revision { databaseId number }", map[string]any{"id": id})
	return id
}

// Poll polls a job until it has ended.
func (s *Platform) Poll(token, key string) Answer {
	s.T.Helper()
	return s.PollFor(token, key, Patience)
}

func (s *Platform) PollFor(token, key string, patience time.Duration) Answer {
	s.T.Helper()
	deadline := time.Now().Add(patience)
	for {
		a := s.Do("GET", "/job/"+key, token, nil)
		if a.Status != http.StatusAccepted {
			return a
		}
		if time.Now().After(deadline) {
			s.T.Fatalf("the run hangs: %s\n%s", a.Body, s.Log)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

const Greeter = `{"steps":[{"id":"a","type":"set","values":{"text":"Hello {{ input.name }}"}}],"output":{"text":"{{ steps.a.text }}"}}`
