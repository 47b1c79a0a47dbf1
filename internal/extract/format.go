package extract

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"path"
	"regexp"
	"strings"

	"github.com/gabriel-vasile/mimetype"
)

// Format is a kind of document, named by its file extension.
type Format string

// The formats that can be uploaded. DOC stands for every content of a .doc file: Word 97-2003,
// RTF, and DOCX under the older name.
const (
	PDF      Format = "pdf"
	DOCX     Format = "docx"
	DOC      Format = "doc"
	Text     Format = "txt"
	Markdown Format = "md"
	CSV      Format = "csv"
	HTML     Format = "html"
	PPTX     Format = "pptx"
	XLSX     Format = "xlsx"
	ODT      Format = "odt"
	EPUB     Format = "epub"
)

// Formats are all of them, in the order in which they are listed to people.
var Formats = []Format{PDF, DOCX, DOC, Text, Markdown, CSV, HTML, PPTX, XLSX, ODT, EPUB}

// otherNames are further extensions of a format.
var otherNames = map[string]Format{"htm": HTML}

// HeadSize is how many leading bytes of a file CheckContent likes to see; fewer will do for files
// that are smaller.
const HeadSize = 8 << 10

var contentTypes = map[Format]string{
	PDF:      "application/pdf",
	DOCX:     "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	DOC:      "application/msword",
	Text:     "text/plain",
	Markdown: "text/markdown",
	CSV:      "text/csv",
	HTML:     "text/html",
	PPTX:     "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	XLSX:     "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	ODT:      "application/vnd.oasis.opendocument.text",
	EPUB:     "application/epub+zip",
}

// ContentType is the media type that the extension stands for.
func (f Format) ContentType() string { return contentTypes[f] }

// ContentTypes gives those of all formats.
func ContentTypes() iter.Seq[string] { return maps.Values(contentTypes) }

// FormatOf gives the format of a file by the extension of its name, in any case. The error is a
// *Failure that lists what is supported.
func FormatOf(name string) (Format, error) {
	ext := strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
	if f, ok := otherNames[ext]; ok {
		return f, nil
	}
	if _, ok := contentTypes[Format(ext)]; ok {
		return Format(ext), nil
	}
	return "", &Failure{ReasonType, "Only " + Extensions() + " files are supported."}
}

// Extensions lists the formats for a sentence: ".pdf, .docx and .txt".
func Extensions() string {
	var list strings.Builder
	for i, f := range Formats {
		switch {
		case i == 0:
		case i == len(Formats)-1:
			list.WriteString(" and ")
		default:
			list.WriteString(", ")
		}
		list.WriteString("." + string(f))
	}
	return list.String()
}

// CheckContent tells whether a file that starts with head can be of the format that its extension
// says. It judges the kind only, not whether the file is whole. The error is a *Failure. Passing knows
// more, at the end of the file.
func CheckContent(format Format, head []byte) error {
	if len(head) == 0 {
		return failEmpty
	}
	var ok bool
	switch format {
	case PDF:
		ok = isPDF(head)
	case DOCX:
		// A DOCX file with a password is an OLE container; reading it says so.
		ok = isPackage(head, "word/") || isOLE(head)
	case PPTX:
		ok = isPackage(head, "ppt/") || isOLE(head)
	case XLSX:
		ok = isPackage(head, "xl/") || isOLE(head)
	case ODT, EPUB:
		ok = isTypedZip(head, format.ContentType())
	case HTML:
		ok = isHTML(head)
	case DOC:
		ok = isOLE(head) || isRTF(head) || isPackage(head, "word/")
	case Text, Markdown, CSV:
		ok = isText(head)
	}
	if !ok {
		return wrongContent(format, head)
	}
	return nil
}

var formatNames = map[Format]string{
	PDF: "a PDF", DOCX: "a Word document", DOC: "a Word document",
	Text: "a text file", Markdown: "a Markdown file", CSV: "a CSV file", HTML: "an HTML page",
	PPTX: "a PowerPoint presentation", XLSX: "an Excel workbook", ODT: "an OpenDocument text", EPUB: "an EPUB book",
}

// wrongContent names what the file is meant to be, and what it looks like where that is known.
func wrongContent(format Format, head []byte) *Failure {
	message := fmt.Sprintf("The file is not %s", formatNames[format])
	found := mimetype.Detect(head)
	if media, _, _ := strings.Cut(found.String(), ";"); media != "application/octet-stream" {
		message += fmt.Sprintf(" (its content is %s)", media)
	}
	return &Failure{ReasonContent, message + "."}
}

// isPDF looks for the header within the first 1024 bytes, as readers do (ISO 32000-1, annex H.3.4.1).
func isPDF(head []byte) bool {
	return bytes.Contains(head[:min(len(head), 1024)], []byte("%PDF-"))
}

func isOLE(head []byte) bool {
	return bytes.HasPrefix(head, []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"))
}

func isRTF(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF"))
	return bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte(`{\rtf`))
}

func isZip(head []byte) bool { return bytes.HasPrefix(head, []byte("PK\x03\x04")) }

// isPackage goes through the local file headers (APPNOTE.TXT 4.3.7) that stand in head. A part under
// a folder such as word/ decides; until one is seen, only the parts that every OOXML package has are let through.
func isPackage(head []byte, folder string) bool {
	if !isZip(head) {
		return false
	}
	for rest := head; ; {
		at := bytes.Index(rest, []byte("PK\x03\x04"))
		if at < 0 || len(rest) < at+30 {
			return true
		}
		rest = rest[at:]
		length := int(rest[26]) | int(rest[27])<<8
		name := strings.ToLower(string(rest[30:min(30+length, len(rest))]))
		rest = rest[30:]
		switch {
		case strings.HasPrefix(name, folder):
			return true
		case isPackagePart(name):
		default:
			return false
		}
	}
}

// isPackagePart knows the parts that a package may have before the first of its document.
func isPackagePart(name string) bool {
	for _, prefix := range []string{"[content_types].xml", "_rels/", "docprops/", "customxml/", "custom/", "docmetadata/"} {
		if strings.HasPrefix(name, prefix) || strings.HasPrefix(prefix, name) {
			return true
		}
	}
	return false
}

// isTypedZip tells whether the archive's first file, which is not compressed, says that it is of this type (ODF part 2, 3.3; OCF 4.3).
func isTypedZip(head []byte, media string) bool {
	if !isZip(head) || len(head) < 30 {
		return false
	}
	name := int(head[26]) | int(head[27])<<8
	extra := int(head[28]) | int(head[29])<<8
	if len(head) < 30+name+extra || string(head[30:30+name]) != "mimetype" {
		return false
	}
	return bytes.HasPrefix(head[30+name+extra:], []byte(media))
}

// isHTML tells whether head is the start of a text that has a tag.
func isHTML(head []byte) bool {
	if !isText(head) {
		return false
	}
	text, err := decodePage(head)
	return err == nil && tag.MatchString(text)
}

var tag = regexp.MustCompile(`<[a-zA-Z!?/]`)

// isText tells whether head is the start of a text in one of the encodings that decode reads. A PDF
// or RTF file is not, though its first lines are made of letters.
func isText(head []byte) bool {
	if isPDF(head) && bytes.HasPrefix(head, []byte("%PDF-")) || isRTF(head) {
		return false
	}
	if enc := encodingByMark(head); enc != nil {
		return true
	}
	if guessUTF16(head) != nil {
		return true
	}
	return countControls(head)*100 <= len(head)
}

// countControls counts the bytes that no text in an ASCII-based encoding holds.
func countControls(head []byte) int {
	n := 0
	for _, c := range head {
		if c == 0 {
			// One NUL is a stray, more are not; each weighs as much as ten other controls.
			n += 10
		}
		if c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1b && c != 0x1a {
			n++
		}
	}
	return n
}
