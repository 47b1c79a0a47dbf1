package agents

import (
	"net/http"
	"testing"

	"canopy/e2e/platform"
)

// TestRunsAsk: an ask step gives the answer that REST gives, of contexts that the run's starter sees; what the model makes up is
// removed, and where it fails the best passages are the answer.
func TestRunsAsk(t *testing.T) {
	t.Parallel()
	says := make(chan string, 1)
	server := platform.NewChatServer(t, func(_ *http.Request, say func(string)) bool {
		select {
		case text := <-says:
			say(text)
			return true
		default:
			return false
		}
	})
	s := platform.Start(t, server.Use)
	s.Work(nil)
	builder, assistant := s.RootAs("builder"), s.Assistant()
	own := s.NewContext(assistant, "Larder")
	s.Upload(assistant, own, "honey.md", []byte("# Honey\n\nBees make it. Honey keeps for 3000 years when it is dry.\n"))
	s.Settle(assistant, own)
	agent := s.Publish(builder, `{"steps":[{"id":"said","type":"ask","contextId":"{{ input.context }}","prompt":"{{ input.question }}","minRelevance":0.1}],
		"output":{"said":"{{ steps.said }}"}}`)
	const question = "Honey keeps how many years?"
	ask := func(context int64, question string) map[string]any {
		t.Helper()
		a := s.LookUp(builder, agent, context, question)
		if a.Status != http.StatusOK {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		return platform.Member(t, a.JSON(t), "outputData.said").(map[string]any)
	}
	says <- "It keeps for 3000 years [1]. The moon is cheese [8]."
	said := ask(own, question)
	if said["text"] != "It keeps for 3000 years. The moon is cheese." || said["nothingFound"] != false {
		t.Errorf("said %v", said)
	}
	hit := s.Search(assistant, own, question)[0]
	want := []any{map[string]any{"start": 0, "end": 24, "quote": "Honey keeps for 3000 years when it is dry.", "id": hit["id"], "docId": hit["docId"]}}
	if !platform.SameJSON(said["citations"], want) || !platform.SameJSON(said["warnings"], []any{"citation_removed", "uncited"}) {
		t.Errorf("said %v", said)
	}
	if failed := ask(own, question); !platform.SameJSON(failed["warnings"], []any{"model_failed"}) || len(failed["citations"].([]any)) == 0 {
		t.Errorf("without the model %v", failed)
	}
	if none := ask(s.NewContext(assistant, "Empty"), question); none["nothingFound"] != true {
		t.Errorf("of nothing %v", none)
	}
	alpine := s.Customer("Alpine Energy")
	foreign := s.NewContext(s.TokenOf(alpine, "greta@alpine.example", "assistant"), "Alpine's own")
	a := s.LookUp(builder, agent, foreign, question)
	wrong := map[string]any{"code": "search_error", "message": "there is no context " + platform.Decimal(foreign), "step": "said"}
	if got := platform.Member(t, a.JSON(t), "errorData"); a.Status != http.StatusBadRequest || !platform.SameJSON(got, wrong) {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}
