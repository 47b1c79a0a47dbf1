package docs

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metricsql"
	"github.com/goccy/go-yaml"
)

// rule is an alert of docs/alerts.yaml, in the form that Prometheus reads.
type rule struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

func alerts(t *testing.T) (list []rule) {
	t.Helper()
	raw, err := os.ReadFile("alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []rule
		}
	}
	if err := yaml.UnmarshalWithOptions(raw, &file, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		list = append(list, g.Rules...)
	}
	if len(list) == 0 {
		t.Fatal("there are no rules")
	}
	return list
}

// TestAlerts parses each rule: its query, its times, its texts, and the metrics that it names.
func TestAlerts(t *testing.T) {
	page, err := os.ReadFile("operations.md")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`\b(canopy|http)_[a-z_]+\b`)
	seen := map[string]bool{}
	for _, r := range alerts(t) {
		t.Run(r.Alert, func(t *testing.T) {
			if seen[r.Alert] {
				t.Error("the name is another rule's")
			}
			seen[r.Alert] = true
			if _, err := metricsql.Parse(r.Expr); err != nil {
				t.Errorf("%s: %v", r.Expr, err)
			}
			if _, err := time.ParseDuration(r.For); err != nil {
				t.Error(err)
			}
			if !slices.Contains([]string{"critical", "warning"}, r.Labels["severity"]) || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("%v %v", r.Labels, r.Annotations)
			}
			for _, metric := range name.FindAllString(r.Expr, -1) {
				for _, part := range []string{"_bucket", "_count"} {
					metric = strings.TrimSuffix(metric, part)
				}
				if !strings.Contains(string(page), "`"+metric) {
					t.Errorf("operations.md does not tell of %s", metric)
				}
			}
		})
	}
}
