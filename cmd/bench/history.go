package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// kept is a line of the history of ratios.
type kept struct {
	Release string             `json:"release"`
	Date    string             `json:"date"`
	Machine string             `json:"machine"`
	Ratios  map[string]float64 `json:"ratios"`
}

// record adds the scores to the history, a file of JSON lines, and draws them beside it.
func record(file, release string, scores []score) error {
	line := kept{
		Release: release, Date: time.Now().UTC().Format(time.DateOnly), Ratios: map[string]float64{},
		Machine: fmt.Sprintf("%d cores, %s/%s, %s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version()),
	}
	for _, s := range scores {
		line.Ratios[s.name] = math.Round(s.ratio*100) / 100
	}
	raw, err := json.Marshal(line)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644) //nolint:gosec // a file of the repository
	if err != nil {
		return err
	}
	_, err = f.Write(append(raw, '\n'))
	picture := filepath.Join(filepath.Dir(file), "ratios.svg")
	return errors.Join(err, f.Close(), os.WriteFile(picture, []byte(line.draw()), 0o644)) //nolint:gosec // a file of the repository
}

// The picture, in pixels: a bar of unit for each doubling, on either side of where both are as fast.
const (
	labels, middle, unit, step = 330, 400, 60, 26
	width                      = 800
)

// draw is a picture of the ratios: to the right the platform is faster, to the left the peer.
func (k kept) draw() string {
	names := slices.Sorted(maps.Keys(k.Ratios))
	height := step*len(names) + 60
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13"><title>How many times as fast as peers</title>`, width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/><line x1="%d" y1="10" x2="%[3]d" y2="%d" stroke="#888"/>`, width, height, middle, height-35)
	for i, name := range names {
		ratio := k.Ratios[name]
		length := math.Log2(max(ratio, 0.01)) * unit
		y := 14 + i*step
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, labels, y+14, html.EscapeString(name))
		fmt.Fprintf(&b, `<rect x="%.0f" y="%d" width="%.0f" height="18" fill="%s"/>`, middle+min(length, 0), y, math.Abs(length), colour(ratio))
		fmt.Fprintf(&b, `<text x="%.0f" y="%d">%.2f</text>`, middle+max(length, 0)+6, y+14, ratio)
	}
	fmt.Fprintf(&b, `<text x="10" y="%d" fill="#555">%s, %s: %s. Each bar is a ratio of rates; its length doubles with each %d pixels.</text></svg>`+"\n",
		height-12, html.EscapeString(k.Release), k.Date, html.EscapeString(k.Machine), unit)
	return b.String()
}

func colour(ratio float64) string {
	if ratio < 1 {
		return "#c66"
	}
	return "#4a8"
}
