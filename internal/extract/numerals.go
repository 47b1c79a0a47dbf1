package extract

import (
	"strconv"
	"strings"
)

// The ways to write the number of a list's item, by how HTML and OpenDocument call them.
const (
	digits       = "1"
	lowerLetters = "a"
	upperLetters = "A"
	lowerRoman   = "i"
	upperRoman   = "I"
)

// numeral writes a number in one of these ways, and in digits where it has no other form: letters begin at 1, and Roman numerals
// end at 3999.
func numeral(n int, way string) string {
	switch {
	case n < 1:
	case way == lowerLetters:
		return letters(n)
	case way == upperLetters:
		return strings.ToUpper(letters(n))
	case way == lowerRoman && n < 4000:
		return strings.ToLower(roman(n))
	case way == upperRoman && n < 4000:
		return roman(n)
	}
	return strconv.Itoa(n)
}

// letters counts a, b, … z, aa, ab.
func letters(n int) string {
	var backwards []byte
	for ; n > 0; n = (n - 1) / 26 {
		backwards = append(backwards, byte('a'+(n-1)%26))
	}
	for i, j := 0, len(backwards)-1; i < j; i, j = i+1, j-1 {
		backwards[i], backwards[j] = backwards[j], backwards[i]
	}
	return string(backwards)
}

var romans = []struct {
	value int
	sign  string
}{
	{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"},
}

func roman(n int) string {
	var b strings.Builder
	for _, r := range romans {
		for ; n >= r.value; n -= r.value {
			b.WriteString(r.sign)
		}
	}
	return b.String()
}

// listNumber reads the number that a list or an item of it begins with.
func listNumber(value string) (n int, given bool) {
	n, err := strconv.Atoi(strings.TrimSpace(value))
	return n, err == nil && n > -1<<31 && n < 1<<31
}
