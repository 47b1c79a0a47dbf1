package extract

import (
	"encoding/binary"
	"testing"
	"unicode/utf16"
)

// oleWith makes a compound file ([MS-CFB]) of version 3 with one empty stream: the header, one
// sector of the allocation table and one of the directory.
func oleWith(stream string) []byte {
	const sector = 512
	file := make([]byte, 3*sector)
	le := binary.LittleEndian
	copy(file, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")
	le.PutUint16(file[24:], 0x3E)
	le.PutUint16(file[26:], 3)
	le.PutUint16(file[28:], 0xFFFE)
	le.PutUint16(file[30:], 9)
	le.PutUint16(file[32:], 6)
	le.PutUint32(file[44:], 1)
	le.PutUint32(file[48:], 1) // the directory
	le.PutUint32(file[56:], 4096)
	const none = 0xFFFFFFFE
	le.PutUint32(file[60:], none)
	le.PutUint32(file[68:], none)
	for i := 76 + 4; i < sector; i += 4 {
		le.PutUint32(file[i:], 0xFFFFFFFF)
	}
	table := file[sector : 2*sector]
	for i := 0; i < sector; i += 4 {
		le.PutUint32(table[i:], 0xFFFFFFFF)
	}
	le.PutUint32(table, 0xFFFFFFFD)
	le.PutUint32(table[4:], none)
	putEntry(file[2*sector:], "Root Entry", 5, 1)
	putEntry(file[2*sector+128:], stream, 2, 0xFFFFFFFF)
	return file
}

func putEntry(entry []byte, name string, kind byte, child uint32) {
	le := binary.LittleEndian
	units := utf16.Encode([]rune(name))
	for i, u := range units {
		le.PutUint16(entry[2*i:], u)
	}
	le.PutUint16(entry[64:], uint16(2*len(units)+2))
	entry[66], entry[67] = kind, 1
	le.PutUint32(entry[68:], 0xFFFFFFFF)
	le.PutUint32(entry[72:], 0xFFFFFFFF)
	le.PutUint32(entry[76:], child)
	le.PutUint32(entry[116:], 0xFFFFFFFE)
}

func TestOLEContainers(t *testing.T) {
	for name, test := range map[string]struct {
		stream string
		format Format
		reason Reason
	}{
		"DOCX with a password":       {"EncryptedPackage", DOCX, ReasonEncrypted},
		"the same under .doc":        {"EncryptedPackage", DOC, ReasonEncrypted},
		"a spreadsheet":              {"Workbook", DOC, ReasonContent},
		"a spreadsheet under .docx":  {"Workbook", DOCX, ReasonContent},
		"Word without its main text": {"WordDocument", DOC, ReasonDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := extractHere(t.Context(), writeFile(t, "a.doc", string(oleWith(test.stream))), test.format, Limits{}, "")
			wantReason(t, err, test.reason)
		})
	}
}

func TestFIBRefusals(t *testing.T) {
	base := make([]byte, 1024)
	binary.LittleEndian.PutUint16(base[fibIdent:], identWord)
	for name, test := range map[string]struct {
		version, flags uint16
		reason         Reason
	}{
		"encrypted": {versionWord8, flagEncrypted, ReasonEncrypted},
		"Word 6":    {versionWord6, 0, ReasonUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			word := append([]byte(nil), base...)
			binary.LittleEndian.PutUint16(word[fibVersion:], test.version)
			binary.LittleEndian.PutUint16(word[fibFlags:], test.flags)
			_, err := parseFIB(word)
			wantReason(t, err, test.reason)
		})
	}
}
