package extract

import "context"

// maxSideParts bounds the headers, footers and parts of notes that are read.
const maxSideParts = 200

// wordPackage is an open DOCX file (ECMA-376).
type wordPackage struct {
	*archive
	main string
}

// readDOCX reads the text of a WordprocessingML package: page headers, the body with its footnotes
// after the paragraphs that refer to them, page footers.
func readDOCX(ctx context.Context, src source, limits Limits) (*Result, error) {
	pkg, err := openPackage(src, limits)
	if err != nil {
		return nil, err
	}
	styles, err := pkg.styles()
	if err != nil {
		return nil, err
	}
	lists, err := pkg.lists()
	if err != nil {
		return nil, err
	}
	notes, err := pkg.notes()
	if err != nil {
		return nil, err
	}
	b := newTextBuilder(limits)
	if err := pkg.writeSide(ctx, b, "header"); err != nil {
		return nil, err
	}
	b.section()
	body := newWordReader(b, styles)
	body.notes, body.lists = notes, lists
	if err := pkg.read(pkg.main, body.read); err != nil {
		return nil, err
	}
	b.section()
	if err := pkg.writeSide(ctx, b, "footer"); err != nil {
		return nil, err
	}
	return b.result()
}

func openPackage(src source, limits Limits) (*wordPackage, error) {
	head := make([]byte, 8)
	if n, _ := src.file.ReadAt(head, 0); isOLE(head[:n]) {
		// The only OLE file that is a .docx is one with a password ([MS-OFFCRYPTO] 2.3).
		return nil, oleFailure(src)
	}
	parts, err := openArchive(src, limits)
	if err != nil {
		return nil, err
	}
	main, err := parts.mainPart("word/document.xml", failNotWord)
	if err != nil {
		return nil, err
	}
	return &wordPackage{archive: parts, main: main}, nil
}

// side gives the parts of a kind that the main part links to, each once.
func (p *wordPackage) side(kind string) ([]string, error) {
	rels, err := p.relations(p.main)
	if err != nil {
		return nil, err
	}
	var parts []string
	seen := map[string]bool{}
	for _, r := range rels {
		if r.kind == kind && p.parts[r.target] != nil && !seen[r.target] && len(parts) < maxSideParts {
			seen[r.target] = true
			parts = append(parts, r.target)
		}
	}
	return parts, nil
}

// writeSide writes the page headers or footers, each different text once.
func (p *wordPackage) writeSide(ctx context.Context, b *textBuilder, kind string) error {
	parts, err := p.side(kind)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, part := range parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		own := newTextBuilder(p.limits)
		if err := p.read(part, newWordReader(own, nil).read); err != nil {
			return err
		}
		if text := own.text.String(); !isBlank(text) && !seen[text] {
			seen[text] = true
			b.write(text)
			b.newline()
		}
	}
	return nil
}
