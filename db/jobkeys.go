package db

import (
	"encoding/binary"

	"github.com/google/uuid"
)

// NewJobKey makes a key for a run. A cell's are UUIDs of version 8 (RFC 9562), whose last 16 bits are the cell's number, so that a key leads to its run; the home's are random, of version 4.
func (s *Store) NewJobKey() (string, error) {
	key, err := uuid.NewRandom()
	if err != nil {
		return "", err
	}
	if s.cell != nil {
		const versionByte, custom = 6, 0x80
		key[versionByte] = key[versionByte]&0x0f | custom
		binary.BigEndian.PutUint16(key[len(key)-2:], uint16(s.cell.Number))
	}
	return key.String(), nil
}

// cellOfJob is the cell that has made a job key; 0 is the home.
func cellOfJob(text string) int64 {
	const custom = 8
	key, err := uuid.Parse(text)
	if err != nil || key.Version() != custom {
		return 0
	}
	return int64(binary.BigEndian.Uint16(key[len(key)-2:]))
}
