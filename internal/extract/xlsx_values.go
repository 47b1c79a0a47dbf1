package extract

import (
	"encoding/xml"
	"math"
	"strconv"
	"strings"
	"time"
)

// show is a cell's value as a person reads it, and whether it is a number. Errors of formulas are nothing.
func (w *workbook) show(kind string, style int, value string) (text string, number bool) {
	switch kind {
	case "s":
		if i, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && i >= 0 && i < len(w.shared) {
			return w.shared[i], false
		}
		return "", false
	case "str", "inlineStr":
		return value, false
	case "b":
		if isTrue(value) {
			return "TRUE", false
		}
		return "FALSE", false
	case "e":
		return "", false
	case "d":
		return value, true
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return value, false
	}
	if style >= 0 && style < len(w.dates) && w.dates[style] {
		return w.day(n), true
	}
	return decimal(n), true
}

// decimal is a number in the 15 digits that spreadsheets work with.
func decimal(n float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(n, 'g', 15, 64), 64)
	if err != nil || math.Abs(rounded) >= 1e21 {
		return strconv.FormatFloat(n, 'g', -1, 64)
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// The days that count as number 0. The calendar from 1900 has a 29 February in that year, which was none, so that from
// March 1900 on its days count from 30 December 1899 (18.17.4.1).
var (
	dayZero1900 = time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	dayZero1904 = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
)

// day is a number of days as a date, with the time of the day where there is one, or as a time alone.
func (w *workbook) day(n float64) string {
	if n < 0 || n >= 2_958_466 { // the year 10000
		return decimal(n)
	}
	zero := dayZero1900
	if w.from1904 {
		zero = dayZero1904
	}
	whole, part := math.Modf(n)
	seconds := time.Duration(math.Round(part*86400)) * time.Second
	at := zero.AddDate(0, 0, int(whole)).Add(seconds)
	switch {
	case whole == 0 && part > 0:
		return at.Format("15:04:05")
	case seconds == 0:
		return at.Format(time.DateOnly)
	}
	return at.Format("2006-01-02 15:04:05")
}

// readStyles finds out which styles of cells show days (18.8.30: the formats that have a number, and those that are written out).
func (w *workbook) readStyles() error {
	part, err := w.linkedPart("styles")
	if part == "" || err != nil {
		return err
	}
	custom := map[string]bool{}
	inCells := false
	return w.read(part, func(x *xmlReader) error {
		return x.each(func(e xml.StartElement) error {
			if e.Name.Space != "s" {
				return nil
			}
			switch e.Name.Local {
			case "numFmt":
				custom[attr(e, "numFmtId")] = showsDays(attr(e, "formatCode"))
			case "cellStyleXfs", "cellStyles", "dxfs":
				inCells = false
			case "cellXfs":
				inCells = true
			case "xf":
				if id := attr(e, "numFmtId"); inCells && len(w.dates) < 1<<16 {
					days, written := custom[id]
					w.dates = append(w.dates, written && days || !written && usualDays(id))
				}
			}
			return nil
		})
	})
}

// usualDays tells whether one of the formats with a number shows days.
func usualDays(id string) bool {
	n, err := strconv.Atoi(id)
	return err == nil && (n >= 14 && n <= 22 || n >= 27 && n <= 36 || n >= 45 && n <= 47 || n >= 50 && n <= 58)
}

// showsDays looks for the letters of dates and times in a format, outside quotes, brackets and escapes.
func showsDays(format string) bool {
	quoted, bracket := false, false
	for i := 0; i < len(format); i++ {
		switch c := format[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '\\' || c == '_' || c == '*':
			i++
		case c == '[':
			bracket = true
		case c == ']':
			bracket = false
		case bracket:
		case strings.IndexByte("ymdhsYMDHS", c) >= 0:
			return true
		}
	}
	return false
}

// columnOf is the number of the column in an address such as "BC12", from 0; -1 where there is none.
func columnOf(address string) int {
	n := 0
	for i := 0; i < len(address) && i < 3; i++ {
		c := address[i]
		if c < 'A' || c > 'Z' {
			break
		}
		n = n*26 + int(c-'A') + 1
	}
	return n - 1
}
