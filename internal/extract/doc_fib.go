package extract

import "encoding/binary"

// Fields of the file information block ([MS-DOC] 2.5), as offsets into the WordDocument stream.
const (
	fibIdent     = 0x00
	fibVersion   = 0x02
	fibFlags     = 0x0A
	fibFirstText = 0x4C // ccpText, the first of the character counts
	fibChpx      = 0xFA
	fibPapx      = 0x102
	fibClx       = 0x1A2
	fibEnd       = 0x1AA

	flagEncrypted = 1 << 8
	flagTable1    = 1 << 9

	identWord    = 0xA5EC
	versionWord6 = 0x0065
	versionWord8 = 0x00C1
)

// The parts of a document in the order in which their characters are numbered ([MS-DOC] 2.4.1).
const (
	partMain = iota
	partFootnotes
	partHeaders
	partMacros
	partComments
	partEndnotes
	partTextboxes
	partHeaderTextboxes
	partCount
)

// fcRange is a place in the table stream.
type fcRange struct{ at, size uint32 }

// of gives the bytes of the range, or none where they are not all there.
func (r fcRange) of(stream []byte) []byte {
	end := uint64(r.at) + uint64(r.size)
	if end > uint64(len(stream)) {
		return nil
	}
	return stream[r.at:end]
}

// fib is what is used of the file information block.
type fib struct {
	table           int // which table stream: 0 or 1
	counts          [partCount]uint32
	chpx, papx, clx fcRange
}

func parseFIB(word []byte) (*fib, error) {
	if len(word) < 0x20 || binary.LittleEndian.Uint16(word[fibIdent:]) != identWord {
		if len(word) > 4 && binary.LittleEndian.Uint16(word[fibVersion:]) <= versionWord6+3 {
			return nil, failOldWord
		}
		return nil, failDamaged
	}
	flags := binary.LittleEndian.Uint16(word[fibFlags:])
	switch version := binary.LittleEndian.Uint16(word[fibVersion:]); {
	case flags&flagEncrypted != 0:
		return nil, failEncrypted
	case version < versionWord8:
		return nil, failOldWord
	case len(word) < fibEnd:
		return nil, failDamaged
	}
	f := &fib{
		chpx: rangeAt(word, fibChpx),
		papx: rangeAt(word, fibPapx),
		clx:  rangeAt(word, fibClx),
	}
	if flags&flagTable1 != 0 {
		f.table = 1
	}
	for i := range f.counts {
		f.counts[i] = binary.LittleEndian.Uint32(word[fibFirstText+4*i:])
	}
	return f, nil
}

func rangeAt(word []byte, at int) fcRange {
	return fcRange{binary.LittleEndian.Uint32(word[at:]), binary.LittleEndian.Uint32(word[at+4:])}
}

// piece is a stretch of characters that stand together in the WordDocument stream.
type piece struct {
	start, end uint32 // character positions
	at         uint32 // offset of the first one, in bytes
	wide       bool   // UTF-16LE, otherwise Windows-1252
}

// parsePieces reads the piece table out of the Clx ([MS-DOC] 2.9.38, 2.8.35).
func parsePieces(clx []byte) ([]piece, error) {
	for len(clx) >= 3 && clx[0] == 1 {
		skip := 3 + int(binary.LittleEndian.Uint16(clx[1:]))
		clx = clx[min(skip, len(clx)):]
	}
	if len(clx) < 5 || clx[0] != 2 {
		return nil, failDamaged
	}
	plc := clx[5:]
	if size := binary.LittleEndian.Uint32(clx[1:]); uint64(size) < uint64(len(plc)) {
		plc = plc[:size]
	}
	n := (len(plc) - 4) / 12
	if n < 1 {
		return nil, failDamaged
	}
	pieces := make([]piece, 0, n)
	for i := range n {
		p := piece{start: binary.LittleEndian.Uint32(plc[4*i:]), end: binary.LittleEndian.Uint32(plc[4*i+4:])}
		fc := binary.LittleEndian.Uint32(plc[4*(n+1)+8*i+2:])
		const narrow = 1 << 30
		if p.wide = fc&narrow == 0; p.wide {
			p.at = fc
		} else {
			p.at = fc &^ narrow / 2
		}
		if p.end < p.start || i > 0 && p.start != pieces[i-1].end {
			return nil, failDamaged
		}
		pieces = append(pieces, p)
	}
	return pieces, nil
}
