// Package secret makes, checks and seals secrets: API keys, link tokens, signing secrets,
// passwords and one-time passwords.
package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
)

const (
	// boxVersion leads every sealed text, so that another scheme can follow this one.
	boxVersion = 1
	// keyIDBytes of a hash name a sealing key.
	keyIDBytes = 8
)

// ErrSealed says that a sealed text was not made with any of the keys for this purpose.
var ErrSealed = errors.New("sealed text does not open")

// Box seals what must not lie open at rest: AES-256-GCM with a random nonce (NIST SP 800-38D). It seals
// with its first key, and opens what any of its keys has sealed.
type Box struct{ keys []sealingKey }

type sealingKey struct {
	id   string
	aead cipher.AEAD
}

// NewBox makes a box of keys of 32 bytes, the newest first.
func NewBox(keys ...[]byte) (*Box, error) {
	if len(keys) == 0 {
		return nil, errors.New("there is no sealing key")
	}
	b := &Box{}
	for _, raw := range keys {
		k, err := newSealingKey(raw)
		if err != nil {
			return nil, err
		}
		if slices.Contains(b.KeyIDs(), k.id) {
			return nil, fmt.Errorf("the sealing key %s is given twice", k.id)
		}
		b.keys = append(b.keys, k)
	}
	return b, nil
}

func newSealingKey(raw []byte) (k sealingKey, err error) {
	if len(raw) != 32 {
		return k, fmt.Errorf("a sealing key has 32 bytes, not %d", len(raw))
	}
	block, err := aes.NewCipher(raw)
	if err != nil {
		return k, err
	}
	sum := sha256.Sum256(append([]byte("canopy sealing key "), raw...))
	k.id = hex.EncodeToString(sum[:keyIDBytes])
	k.aead, err = cipher.NewGCM(block)
	return k, err
}

// KeyIDs names the keys, the newest first. An id is part of a hash: it tells keys apart, and nothing of them.
func (b *Box) KeyIDs() (ids []string) {
	for _, k := range b.keys {
		ids = append(ids, k.id)
	}
	return ids
}

// Seal encrypts plain with the newest key. It opens only with the same purpose, so that a sealed text can't
// be moved to another row or column.
func (b *Box) Seal(plain []byte, purpose string) []byte {
	aead := b.keys[0].aead
	out := make([]byte, 1+aead.NonceSize(), 1+aead.NonceSize()+len(plain)+aead.Overhead())
	out[0] = boxVersion
	_, _ = rand.Read(out[1:]) // never fails, by its documentation
	return aead.Seal(out, out[1:], plain, []byte(purpose))
}

// Open decrypts what Seal made for the same purpose, with whichever of the keys; ErrSealed when it is
// anything else.
func (b *Box) Open(sealed []byte, purpose string) ([]byte, error) {
	plain, _, err := b.open(sealed, purpose)
	return plain, err
}

// Renew seals anew, with the newest key, what an older one has sealed; renewed is nil where the newest
// one has already. ErrSealed when no key opens it.
func (b *Box) Renew(sealed []byte, purpose string) (renewed []byte, err error) {
	plain, at, err := b.open(sealed, purpose)
	if err != nil || at == 0 {
		return nil, err
	}
	return b.Seal(plain, purpose), nil
}

// open also tells which of the keys has sealed it.
func (b *Box) open(sealed []byte, purpose string) (plain []byte, at int, err error) {
	for i, k := range b.keys {
		n := 1 + k.aead.NonceSize()
		if len(sealed) < n || sealed[0] != boxVersion {
			break
		}
		if plain, err := k.aead.Open(nil, sealed[1:n], sealed[n:], []byte(purpose)); err == nil {
			return plain, i, nil
		}
	}
	return nil, 0, ErrSealed
}
