package extract

// rtfSkipped are the destinations that hold no document text.
var rtfSkipped = map[string]bool{
	"colortbl": true, "stylesheet": true, "info": true, "pict": true, "object": true, "fldinst": true,
	"listtable": true, "listoverridetable": true, "revtbl": true, "rsidtbl": true, "generator": true,
	"xmlnstbl": true, "themedata": true, "colorschememapping": true, "datastore": true,
	"latentstyles": true, "filetbl": true, "annotation": true, "atnid": true, "atnauthor": true,
	"bkmkstart": true, "bkmkend": true, "pgdsctbl": true, "ftnsep": true, "ftnsepc": true,
	"aftnsep": true, "aftnsepc": true, "ftncn": true, "aftncn": true, "xe": true, "tc": true, "private": true,
	"nonshppict": true, "mmathPr": true, "userprops": true, "docvar": true, "fontemb": true, "falt": true,
	"sp": true, // a property of a drawing, by name and value; the drawing's text is its shptxt
}

// rtfKept are the destinations marked \* whose text is part of the document.
var rtfKept = map[string]bool{
	"shptxt": true, "shpinst": true, "fldrslt": true, "footnote": true, "listtext": true, "pntext": true,
	"moMath": true, "shprslt": true,
}

// rtfCharacters are the control words and symbols that stand for text.
var rtfCharacters = map[string]string{
	"~": "\u00a0", "_": "-", "tab": "\t", "line": "\n", "lbr": "\n", "emdash": "—", "endash": "–",
	"lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "bullet": "•", "emspace": " ",
	"enspace": " ", "qmspace": " ", "{": "{", "}": "}", "\\": "\\", "\n": "\n", "\r": "\n",
}

// control acts on a control word or symbol.
func (r *rtfReader) control(t rtfToken) {
	if s, ok := rtfCharacters[t.word]; ok {
		if t.word == "\n" || t.word == "\r" {
			r.endParagraph() // a backslash before a line end is a \par
			return
		}
		r.write(s)
		return
	}
	switch t.word {
	case "*":
		r.star = true
		return
	case "u":
		r.unicode(t.value)
		return
	case "uc":
		// Stands between the halves of a surrogate pair too.
		r.now.unicode = max(0, min(t.value, 100))
		return
	case "bin":
		return
	}
	r.flush()
	switch {
	case r.structure(t), r.character(t), r.fontTable(t):
	case rtfSkipped[t.word], r.star && !rtfKept[t.word]:
		r.now.skip = true
	}
}

// structure acts on paragraphs, rows and notes.
func (r *rtfReader) structure(t rtfToken) bool {
	if r.now.skip {
		return false
	}
	switch t.word {
	case "par", "sect", "page", "column":
		r.endParagraph()
	case "pard":
		r.now.heading, r.now.inTable = 0, false
	case "intbl":
		r.now.inTable = true
	case "outlinelevel":
		r.now.heading = 0
		if t.given && t.value >= 0 && t.value <= 8 {
			r.now.heading = t.value + 2
		}
	case "cell", "nestcell":
		r.write("\t")
	case "row":
		r.endRow()
	case "footnote":
		r.write(" [")
		r.now.note, r.now.inNote, r.noteStart = true, true, len(r.line)
	default:
		return false
	}
	return true
}

// character acts on what changes how bytes are read, and whether.
func (r *rtfReader) character(t rtfToken) bool {
	switch t.word {
	case "ansicpg":
		r.ansiPage, r.now.page = t.value, t.value
	case "mac":
		r.ansiPage, r.now.page = 10000, 10000
	case "pc":
		r.ansiPage, r.now.page = 437, 437
	case "pca":
		r.ansiPage, r.now.page = 850, 850
	case "deleted":
		r.now.deleted = t.value != 0
	case "plain":
		r.now.deleted, r.now.page = false, r.ansiPage
	default:
		return false
	}
	return true
}

// fontTable follows the font table, and the fonts that text is set in, for their code pages.
func (r *rtfReader) fontTable(t rtfToken) bool {
	switch t.word {
	case "fonttbl":
		r.now.inFonts = true
	case "f":
		if r.now.inFonts {
			r.font = t.value
		} else if page, ok := r.fonts[t.value]; ok {
			r.now.page = page
		} else {
			r.now.page = r.ansiPage
		}
	case "fcharset":
		if page, ok := charsetPages[t.value]; ok && r.now.inFonts && len(r.fonts) < maxGroups && t.value > 1 {
			r.fonts[r.font] = page
		}
	case "cpg":
		if r.now.inFonts {
			r.fonts[r.font] = t.value
		}
	default:
		return false
	}
	return true
}
