package docs

import (
	"context"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/diagram"
)

// shownDiagrams are the diagrams in docs/agents.md.
func shownDiagrams(t *testing.T) (list []string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "\n```json\n")
	for _, block := range blocks[1:] {
		text, _, closed := strings.Cut(block, "\n```\n")
		if !closed {
			t.Fatal("a block is not closed")
		}
		list = append(list, text)
	}
	return list
}

// TestFirstShownDiagram asks the first diagram what is in the samples.
func TestFirstShownDiagram(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.NoDemoMails()
	s.Work(nil)
	builder, assistant := s.RootAs("builder"), s.Assistant()
	list := shownDiagrams(t)
	if len(list) != 2 {
		t.Fatalf("%d diagrams", len(list))
	}
	agent, known := s.Publish(builder, list[0]), s.SampleContext(assistant)
	a := s.LookUp(builder, agent, known, "Where is the defibrillator?")
	if out := a.JSON(t); a.Status != http.StatusOK || !strings.Contains(platform.Member(t, out, "outputData.answer").(string), "control room") || platform.Member(t, out, "outputData.documents.#") == 0 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	a = s.LookUp(builder, agent, s.NewContext(assistant, "Empty"), "life")
	want := map[string]any{"code": "nothing_found", "message": "Nothing is known of life", "step": "none"}
	if got := platform.Member(t, a.JSON(t), "errorData"); a.Status != http.StatusBadRequest || !platform.SameJSON(got, want) {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// forecast stands for the world of the page's second diagram.
type forecast struct {
	diagram.Tools
	status int
	asked  []string
}

func (f *forecast) HTTP(_ context.Context, r diagram.HTTPRequest) (*diagram.HTTPAnswer, error) {
	f.asked = append(f.asked, r.URL)
	return &diagram.HTTPAnswer{Status: f.status, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(`{"temperature":-3}`)}, nil
}

func (f *forecast) Chat(_ context.Context, r diagram.ChatRequest) (*diagram.ChatAnswer, error) {
	last := r.Messages[len(r.Messages)-1].Content
	f.asked = append(f.asked, last)
	return &diagram.ChatAnswer{Content: "A coat."}, nil
}

func TestSecondShownDiagram(t *testing.T) {
	t.Parallel()
	d, faults, _ := diagram.Parse(t.Context(), 1, []byte(shownDiagrams(t)[1]))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	const place = "https://weather.example/v1/places/St.%20Moritz"
	for status, want := range map[int]struct {
		output string
		asked  []string
	}{
		200: {`{"advice":"A coat."}`, []string{place, "What to wear at -3 degrees?"}},
		404: {`{"advice":"Look out of the window."}`, []string{place}},
	} {
		world := &forecast{status: status}
		run := &diagram.Run{Diagram: d, Input: []byte(`{"place":"St. Moritz"}`)}
		for _, more := run.Next(); more; _, more = run.Next() {
			result, err := run.Step(t.Context(), world)
			if err != nil {
				t.Fatal(err)
			}
			run.Results = append(run.Results, result)
		}
		output, err := run.Output(t.Context())
		if err != nil || string(output) != want.output || !slices.Equal(world.asked, want.asked) {
			t.Errorf("%d: %v %s, asked %q", status, err, output, world.asked)
		}
	}
}
