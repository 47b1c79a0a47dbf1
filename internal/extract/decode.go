package extract

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/wlynxg/chardet"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	utfenc "golang.org/x/text/encoding/unicode"
)

const (
	// sampleSize is how much of a text the guesses look at, in bytes.
	sampleSize = 64 << 10
	// minConfidence is what the charset detector must reach to be believed over Windows-1252.
	minConfidence = 0.5
)

var (
	utf8Mark  = []byte("\xEF\xBB\xBF")
	utf16LE   = utfenc.UTF16(utfenc.LittleEndian, utfenc.IgnoreBOM)
	utf16BE   = utfenc.UTF16(utfenc.BigEndian, utfenc.IgnoreBOM)
	utf16Mark = map[string]encoding.Encoding{"\xFF\xFE": utf16LE, "\xFE\xFF": utf16BE}
)

// decode turns the bytes of a text file into UTF-8: by its byte order mark, as UTF-8 where it is
// that, as UTF-16 where it looks like it, by its letters' statistics, and as Windows-1252 where
// they say little. data must not be changed afterwards.
func decode(data []byte) (string, error) {
	if bytes.HasPrefix(data, utf8Mark) {
		return strings.ToValidUTF8(view(data[len(utf8Mark):]), "\uFFFD"), nil
	}
	if enc := encodingByMark(data); enc != nil {
		return decodeWith(enc, data[2:])
	}
	if utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 {
		return view(data), nil
	}
	if enc := guessUTF16(data[:min(len(data), sampleSize)]); enc != nil {
		return decodeWith(enc, data)
	}
	if mostlyUTF8(data) {
		return strings.ToValidUTF8(view(data), "\uFFFD"), nil
	}
	return decodeWith(guessLegacy(data), data)
}

// view is the bytes as a string, without a copy.
func view(data []byte) string { return unsafe.String(unsafe.SliceData(data), len(data)) } //nolint:gosec // data is not written to while the string lives

func decodeWith(enc encoding.Encoding, data []byte) (string, error) {
	out, err := enc.NewDecoder().Bytes(data)
	if err != nil {
		return "", fmt.Errorf("decode the text: %w", err)
	}
	return strings.ToValidUTF8(view(out), "\uFFFD"), nil
}

// encodingByMark is the UTF-16 or UTF-8 encoding that a byte order mark announces, or nil.
func encodingByMark(data []byte) encoding.Encoding {
	if bytes.HasPrefix(data, utf8Mark) {
		return utfenc.UTF8
	}
	if len(data) < 2 {
		return nil
	}
	return utf16Mark[string(data[:2])]
}

// guessUTF16 recognises UTF-16 without a mark. Every text has spaces or line ends, which leave zero
// bytes on one side of the pairs; the side that makes the better text wins.
func guessUTF16(sample []byte) encoding.Encoding {
	sample = sample[:len(sample)&^1]
	if bytes.IndexByte(sample, 0) < 0 {
		return nil
	}
	little, big := scoreUTF16(sample, 1, 0), scoreUTF16(sample, 0, 1)
	switch {
	case max(little, big) < 0.95:
		return nil
	case little >= big:
		return utf16LE
	}
	return utf16BE
}

// scoreUTF16 reads a sample with the high byte at offset hi of each pair and gives the share of its
// units that are part of a text, with a bonus for spaces and line ends; 0 for no text at all.
func scoreUTF16(sample []byte, hi, lo int) float64 {
	good, breaks, latin, total := 0, 0, 0, len(sample)/2
	for i := 0; i+1 < len(sample); i += 2 {
		r := rune(sample[i+hi])<<8 | rune(sample[i+lo])
		if r > ' ' && r < 0x100 {
			latin++
		}
		switch {
		case r == ' ' || r == '\n' || r == '\t' || r == '\r':
			good++
			breaks++
		case r >= 0xD800 && r < 0xE000, unicode.IsPrint(r):
			good++
		}
	}
	// Without a space or line end only a few Latin words are credible.
	if total == 0 || breaks == 0 && (total > 200 || latin*2 < total) {
		return 0
	}
	return (float64(good) + float64(breaks)/10) / float64(total)
}

// mostlyUTF8 tells a UTF-8 text with a few broken bytes (a cut in the middle, a pasted line) from a
// text in another encoding, in which sequences that happen to be UTF-8 are rare.
func mostlyUTF8(data []byte) bool {
	data = legacySample(data)
	good, bad := 0, 0
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		switch {
		case r == utf8.RuneError && size == 1:
			bad++
		case size > 1:
			good++
		}
		data = data[size:]
	}
	return good > 10*bad
}

// guessLegacy is the 8-bit or multi-byte encoding of a text that is no Unicode.
func guessLegacy(data []byte) encoding.Encoding {
	found := chardet.Detect(legacySample(data))
	if found.Confidence < minConfidence {
		return charmap.Windows1252
	}
	enc, err := htmlindex.Get(found.Encoding)
	if err != nil {
		return charmap.Windows1252
	}
	// A UTF-8 verdict came from a sample of bytes that are known not to be.
	if name, _ := htmlindex.Name(enc); name == "utf-8" {
		return charmap.Windows1252
	}
	return enc
}

// legacySample is a stretch of the text that starts close before its first byte beyond ASCII.
func legacySample(data []byte) []byte {
	start := max(0, bytes.IndexFunc(data, func(r rune) bool { return r >= utf8.RuneSelf })-1024)
	return data[start:min(len(data), start+sampleSize)]
}
