package pages_test

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var colour = regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{6});`)

// The pairs of colours that the pages use have the contrast that WCAG 2.2 asks for at level AA:
// 4.5 for text (1.4.3), 3 for the borders of fields (1.4.11).
func TestContrast(t *testing.T) {
	css, err := os.ReadFile("site/base.css")
	if err != nil {
		t.Fatal(err)
	}
	light, dark, ok := strings.Cut(string(css), "prefers-color-scheme: dark")
	if !ok {
		t.Fatal("there is no dark form")
	}
	for name, part := range map[string]string{"light": light, "dark": dark} {
		colours := map[string]float64{}
		for _, m := range colour.FindAllStringSubmatch(part, -1) {
			colours[m[1]] = luminance(t, m[2])
		}
		for _, c := range []struct {
			front, back string
			least       float64
		}{
			{"ink", "ground", 4.5},
			{"ink", "surface", 4.5},
			{"ink", "accent-soft", 4.5},
			{"muted", "ground", 4.5},
			{"muted", "surface", 4.5},
			{"accent", "ground", 4.5},
			{"accent", "surface", 4.5},
			{"accent", "accent-soft", 4.5},
			{"accent-ink", "accent", 4.5},
			{"error", "error-soft", 4.5},
			{"error", "surface", 4.5},
			{"error", "ground", 4.5},
			{"field", "ground", 3},
			{"field", "surface", 3},
		} {
			t.Run(name+" "+c.front+" on "+c.back, func(t *testing.T) {
				a, b := colours[c.front], colours[c.back]
				if ratio := (max(a, b) + .05) / (min(a, b) + .05); ratio < c.least {
					t.Errorf("the contrast is %.2f, want %.1f", ratio, c.least)
				}
			})
		}
	}
}

// luminance is the relative luminance of a colour, as WCAG 2.2 defines it.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	sum := 0.0
	for i, weight := range []float64{.2126, .7152, .0722} {
		v, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(v) / 255
		if c <= .04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}
