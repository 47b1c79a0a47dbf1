package extract

import "bytes"

// rtfToken is one element of an RTF file (RTF 1.9.1, "Basic entities").
type rtfToken struct {
	kind  rtfKind
	word  string // of a control word or symbol
	value int    // its parameter; 1 where it has none, with given false
	given bool
	text  []byte // of text, or the one byte of a \'hh
}

type rtfKind int

const (
	rtfEnd rtfKind = iota
	rtfOpen
	rtfClose
	rtfWord
	rtfText
	rtfHex
)

// rtfScanner cuts an RTF file into tokens. It takes any bytes.
type rtfScanner struct {
	data []byte
	at   int
}

func (s *rtfScanner) next() rtfToken {
	for s.at < len(s.data) {
		switch c := s.data[s.at]; c {
		case '{':
			s.at++
			return rtfToken{kind: rtfOpen}
		case '}':
			s.at++
			return rtfToken{kind: rtfClose}
		case '\\':
			s.at++
			return s.control()
		case '\r', '\n', 0:
			s.at++
		default:
			return s.plainText()
		}
	}
	return rtfToken{}
}

func (s *rtfScanner) plainText() rtfToken {
	rest := s.data[s.at:]
	end := bytes.IndexAny(rest, "{}\\\r\n\x00")
	if end < 0 {
		end = len(rest)
	}
	s.at += end
	return rtfToken{kind: rtfText, text: rest[:end]}
}

// control reads what follows a backslash: a word with its parameter, or a symbol.
func (s *rtfScanner) control() rtfToken {
	if s.at >= len(s.data) {
		return rtfToken{}
	}
	start := s.at
	for s.at < len(s.data) && s.at-start < 32 && isLetter(s.data[s.at]) {
		s.at++
	}
	if s.at == start {
		return s.symbol()
	}
	t := rtfToken{kind: rtfWord, word: string(s.data[start:s.at]), value: 1}
	s.parameter(&t)
	if s.at < len(s.data) && s.data[s.at] == ' ' {
		s.at++
	}
	if t.word == "bin" && t.given {
		s.at = min(len(s.data), s.at+max(0, t.value))
	}
	return t
}

func (s *rtfScanner) parameter(t *rtfToken) {
	i, sign := s.at, 1
	if i < len(s.data) && s.data[i] == '-' {
		i, sign = i+1, -1
	}
	value, digits := 0, 0
	for ; i < len(s.data) && isDigit(s.data[i]) && digits < 10; i++ {
		value = value*10 + int(s.data[i]-'0')
		digits++
	}
	if digits > 0 {
		s.at, t.value, t.given = i, sign*value, true
	}
}

func (s *rtfScanner) symbol() rtfToken {
	c := s.data[s.at]
	s.at++
	if c == '\'' && s.at+2 <= len(s.data) {
		hi, lo := hexDigit(s.data[s.at]), hexDigit(s.data[s.at+1])
		if hi >= 0 && lo >= 0 {
			s.at += 2
			return rtfToken{kind: rtfHex, text: []byte{byte(hi<<4 | lo)}} // two digits
		}
	}
	return rtfToken{kind: rtfWord, word: string(rune(c)), value: 1}
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

func hexDigit(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
