package diagram

import (
	"reflect"
	"testing"
)

func TestCheckTellsOfAnUnfinishedDiagram(t *testing.T) {
	got := checked(t.Context(), []byte(`{"steps": [
		{"id": "hits", "type": "search", "contextId": 7, "prompt": "{{ input.question }} {{ input?.place ?? input[\"else\"] }}"},
		"nothing",
		{"id": "ask", "type": "http", "when": "{{ len(steps.hits) > 0 }}", "url": "https://x.example/{{ steps.best.id }}", "headers": {"Authorization": "{{ secrets.KEY }}"}}],
		"output": {"all": "{{ [steps.hits, steps.ask] }}", "not": "{{ 1 + }}"}}`))
	want := []Reads{
		{Input: []string{"else", "place", "question"}, Steps: []string{}, Secrets: []string{}},
		{Input: []string{}, Steps: []string{}, Secrets: []string{}},
		{Input: []string{}, Steps: []string{"hits"}, Secrets: []string{"KEY"}},
	}
	if !reflect.DeepEqual(got.Steps, want) {
		t.Errorf("steps read %v, want %v", got.Steps, want)
	}
	if want := []string{"ask", "hits"}; !reflect.DeepEqual(got.Output.Steps, want) {
		t.Errorf("the output reads %v, want %v", got.Output.Steps, want)
	}
	places := []string{}
	for _, f := range got.Faults {
		places = append(places, f.Location)
	}
	if want := []string{"steps[1]", "steps[2].url", "output.not"}; !reflect.DeepEqual(places, want) {
		t.Errorf("faults at %v, want %v: %v", places, want, got.Faults)
	}
}

func TestCheckTellsWhyNothingCanBeRead(t *testing.T) {
	for _, raw := range []string{"", "[]", "{", `{"steps": 7}`} {
		if got := checked(t.Context(), []byte(raw)); len(got.Faults) == 0 || len(got.Steps) > 0 {
			t.Errorf("%q: %+v", raw, got)
		}
	}
}
