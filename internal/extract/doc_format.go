package extract

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// Formatting that changes what the text is ([MS-DOC] 2.6).
const (
	sprmDeleted  = 0x0800 // sprmCFRMarkDel: deleted under change tracking
	sprmInTable  = 0x2416 // sprmPFInTable
	sprmRowEnd   = 0x2417 // sprmPFTtp: the mark that ends a table's row
	sprmOutline  = 0x2640 // sprmPOutLvl
	sprmTabs     = 0xC615 // sprmPChgTabs and
	sprmTableDef = 0xD608 // sprmTDefTable have operands with a length of their own kind

	fkpSize     = 512
	maxHeadings = 9 // styles 1 to 9 are "heading 1" to "heading 9" in every file ([MS-DOC] 2.9.271)
)

// docProps is the formatting of a run of bytes in the WordDocument stream.
type docProps struct {
	start, end               uint32 // byte offsets
	deleted, inTable, rowEnd bool
	headline                 int // the level of the heading; 0 for none
}

// propRuns finds the formatting of a byte. Questions mostly come in rising order.
type propRuns struct {
	runs []docProps
	last int
}

func (p *propRuns) at(fc uint32) docProps {
	if p.last < len(p.runs) && p.runs[p.last].start <= fc && fc < p.runs[p.last].end {
		return p.runs[p.last]
	}
	i, found := slices.BinarySearchFunc(p.runs, fc, func(r docProps, fc uint32) int {
		return cmp.Compare(r.start, fc)
	})
	if !found {
		i--
	}
	if i < 0 || fc >= p.runs[i].end {
		return docProps{}
	}
	p.last = i
	return p.runs[i]
}

// parseRuns reads the formatted disk pages that a PlcBteChpx or PlcBtePapx names ([MS-DOC] 2.8.5,
// 2.8.6). read gives the properties of one run from its page and the index of the run in it.
func parseRuns(plc, word []byte, read func(page []byte, runs, i int) docProps) propRuns {
	var out propRuns
	n := max(0, (len(plc)-4)/8)
	// Each page is named once in a sound file.
	for i := range min(n, len(word)/fkpSize) {
		number := uint64(binary.LittleEndian.Uint32(plc[4*(n+1)+4*i:]) & 0x3FFFFF)
		if (number+1)*fkpSize > uint64(len(word)) {
			continue
		}
		page := word[number*fkpSize : (number+1)*fkpSize]
		runs := int(page[fkpSize-1])
		if 4*(runs+1) > fkpSize-1 {
			continue
		}
		for j := range runs {
			props := read(page, runs, j)
			props.start = binary.LittleEndian.Uint32(page[4*j:])
			props.end = binary.LittleEndian.Uint32(page[4*j+4:])
			out.runs = append(out.runs, props)
		}
	}
	slices.SortStableFunc(out.runs, func(a, b docProps) int { return cmp.Compare(a.start, b.start) })
	return out
}

// readChpx reads the character formatting of a run ([MS-DOC] 2.9.33).
func readChpx(page []byte, runs, i int) (props docProps) {
	at := 4*(runs+1) + i
	if at >= fkpSize-1 {
		return props
	}
	at = int(page[at]) * 2
	if at == 0 || at >= fkpSize {
		return props
	}
	end := min(at+1+int(page[at]), fkpSize)
	applySprms(page[at+1:end], &props)
	return props
}

// readPapx reads the paragraph formatting of a run ([MS-DOC] 2.9.174, 2.9.175).
func readPapx(page []byte, runs, i int) (props docProps) {
	at := 4*(runs+1) + 13*i
	if at >= fkpSize-1 {
		return props
	}
	at = int(page[at]) * 2
	if at == 0 || at+1 >= fkpSize {
		return props
	}
	size := 2*int(page[at]) - 1
	if page[at] == 0 {
		at++
		size = 2 * int(page[at])
	}
	body := page[at+1 : max(at+1, min(at+1+size, fkpSize))]
	if len(body) < 2 {
		return props
	}
	style := binary.LittleEndian.Uint16(body)
	if style >= 1 && style <= maxHeadings {
		props.headline = int(style) + 1
	}
	applySprms(body[2:], &props)
	return props
}

// applySprms goes through a list of property modifiers ([MS-DOC] 2.6.1).
func applySprms(list []byte, props *docProps) {
	for len(list) >= 3 {
		code := binary.LittleEndian.Uint16(list)
		operand := list[2:]
		on := operand[0] != 0
		switch code {
		case sprmDeleted:
			props.deleted = on
		case sprmInTable:
			props.inTable = on
		case sprmRowEnd:
			props.rowEnd = on
		case sprmOutline:
			props.headline = 0
			if operand[0] < maxHeadings {
				props.headline = int(operand[0]) + 2
			}
		}
		list = operand[min(operandSize(code, operand), len(operand)):]
	}
}

// operandSize is the size of a modifier's operand in bytes, by the top three bits of its code.
func operandSize(code uint16, operand []byte) int {
	switch code >> 13 {
	case 0, 1:
		return 1
	case 2, 4, 5:
		return 2
	case 3:
		return 4
	case 7:
		return 3
	}
	switch {
	case code == sprmTableDef && len(operand) >= 2:
		return 1 + int(binary.LittleEndian.Uint16(operand))
	case code == sprmTabs && operand[0] == 255:
		return len(operand) // its true size hides in its content; nothing of ours follows it
	}
	return 1 + int(operand[0])
}
