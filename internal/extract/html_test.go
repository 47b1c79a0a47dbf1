package extract

import (
	"strings"
	"testing"
)

func TestHTML(t *testing.T) {
	r := extractBytes(t, []byte(`<!DOCTYPE html><html><head><meta charset="windows-1252"><title>Harbour &amp; tides</title><style>p{}</style></head><body>
		<nav>Home</nav><h1>Gulls   <b>nest</b></h1><p>On the
		cliffs, at the caf`+"\xe9"+`.<br>Always<script>alert("x")</script>.</p><ul><li>Dunlin<ol start=3><li>small<li>grey</ol><li>Knot</ul>
		<table><tr><th>Bird<th>Length<tr><td><p>Dunlin</p><p>rare</p><td>18 cm<tr><td><td>24</table><h2>Next</h2>
		<pre>a
  b</pre><p>1<img src="data:," alt="A map"/><div/>End<svg><text>no</text></svg></body></html>`), HTML)
	want := "Harbour & tides\n\nHome\n\nGulls nest\n\nOn the cliffs, at the café.\nAlways.\n\n- Dunlin\n  3. small\n  4. grey\n- Knot\n\n" +
		"Bird\tLength\nBird: Dunlin rare; Length: 18 cm\nLength: 24\n\nNext\n\na\n  b\n\n1A map\nEnd"
	if r.Text != want {
		t.Errorf("text = %q\nwant %q", r.Text, want)
	}
	for text, heading := range map[string]string{"Home": "Harbour & tides", "cliffs": "Gulls nest", "24": "Gulls nest", "End": "Next"} {
		if got := markAt(r, strings.Index(r.Text, text)).Heading; got != heading {
			t.Errorf("%q is under %q, want %q", text, got, heading)
		}
	}
}

func TestHTMLIsToldFromText(t *testing.T) {
	for content, want := range map[string]bool{"<p>a": true, "no tags here, 1 < 2": false, "%PDF-1.7 <a>": false, "\xff\xfe<\x00p\x00>\x00a\x00": true, "PK\x03\x04<p>": false} {
		if err := CheckContent(HTML, []byte(content)); (err == nil) != want {
			t.Errorf("%q: %v", content, err)
		}
	}
}
