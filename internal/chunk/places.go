package chunk

import "encoding/binary"

// PackPlaces writes places: of each the difference of its offset, its page and its row, and 0 where the heading is that of the one
// before, otherwise its length and 1 more, and the heading. nil stands for none.
func PackPlaces(list []Place) []byte {
	var b []byte
	at, heading := 0, ""
	for _, p := range list {
		for _, n := range []int{p.Offset - at, p.Page, p.Row} {
			b = binary.AppendUvarint(b, uint64(max(0, n))) // not negative
		}
		if p.Heading == heading {
			b = append(b, 0)
		} else {
			b = append(binary.AppendUvarint(b, uint64(len(p.Heading))+1), p.Heading...)
		}
		at, heading = p.Offset, p.Heading
	}
	return b
}

// UnpackPlaces reads what PackPlaces has written; what is no place ends the list.
func UnpackPlaces(b []byte) (list []Place) {
	var p Place
	for len(b) > 0 {
		var n [4]int
		for i := range n {
			value, size := binary.Uvarint(b)
			if size <= 0 || value > 1<<31 {
				return list
			}
			n[i], b = int(value), b[size:]
		}
		p.Offset, p.Page, p.Row = p.Offset+n[0], n[1], n[2]
		if n[3] > 0 {
			if n[3]-1 > len(b) {
				return list
			}
			p.Heading, b = string(b[:n[3]-1]), b[n[3]-1:]
		}
		list = append(list, p)
	}
	return list
}
