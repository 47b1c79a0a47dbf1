package cl100k

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// pieceEnd gives the end of the piece that begins at an offset. Pieces are encoded each by itself;
// they are the matches of
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func pieceEnd(text string, at int) int {
	if n := contraction(text[at:]); n > 0 {
		return at + n
	}
	first, size := class(text, at)
	switch first {
	case letter:
		return runEnd(text, at, letter)
	case number:
		return numberEnd(text, at)
	}
	if b := text[at]; b != '\r' && b != '\n' {
		if next, _ := class(text, at+size); next == letter {
			return runEnd(text, at+size, letter)
		}
	}
	symbols := at
	if text[at] == ' ' {
		symbols++
	}
	if end := runEnd(text, symbols, symbol); end > symbols {
		for end < len(text) && (text[end] == '\n' || text[end] == '\r') {
			end++
		}
		return end
	}
	return spaceEnd(text, at)
}

// The classes of characters.
const (
	nothing = iota // behind the end
	letter
	number
	space
	symbol
)

// class gives the class of the character at an offset, and its length.
func class(text string, at int) (kind, size int) {
	if at >= len(text) {
		return nothing, 0
	}
	if b := text[at]; b < utf8.RuneSelf {
		return int(ascii[b]), 1
	}
	r, size := utf8.DecodeRuneInString(text[at:])
	return classOf(r), size
}

func classOf(r rune) int {
	switch {
	case unicode.IsLetter(r):
		return letter
	case unicode.IsNumber(r):
		return number
	case unicode.IsSpace(r):
		return space
	}
	return symbol
}

var ascii = func() (table [utf8.RuneSelf]uint8) {
	for b := range table {
		table[b] = uint8(classOf(rune(b)))
	}
	return table
}()

// runEnd gives the end of the run of a class that begins at an offset.
func runEnd(text string, at, kind int) int {
	for {
		next, size := class(text, at)
		if next != kind {
			return at
		}
		at += size
	}
}

func numberEnd(text string, at int) int {
	for range 3 {
		next, size := class(text, at)
		if next != number {
			break
		}
		at += size
	}
	return at
}

// spaceEnd gives the end of the piece of a run of white space: up to its last line break; without
// one, all but the last character, which goes with the word behind it.
func spaceEnd(text string, at int) int {
	end := runEnd(text, at, space)
	if i := strings.LastIndexAny(text[at:end], "\r\n"); i >= 0 {
		return at + i + 1
	}
	if end == len(text) {
		return end
	}
	_, last := utf8.DecodeLastRuneInString(text[at:end])
	if end-last > at {
		return end - last
	}
	return end
}

// contraction gives the length of the apostrophe and letters that a text begins with, as in "it's";
// 0 for none. ſ is an s without regard to case.
func contraction(text string) int {
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	switch text[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	}
	if strings.HasPrefix(text[1:], "ſ") {
		return 1 + len("ſ")
	}
	if len(text) < 3 {
		return 0
	}
	switch string([]byte{text[1] | 0x20, text[2] | 0x20}) {
	case "re", "ve", "ll":
		return 3
	}
	return 0
}
