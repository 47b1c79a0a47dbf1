// Package secret makes, checks and seals secrets: API keys, link tokens, signing secrets,
// passwords and one-time passwords.
package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
)

// boxVersion leads every sealed text, so that another scheme or key can follow this one.
const boxVersion = 1

// ErrSealed says that a sealed text was not made with this key for this purpose.
var ErrSealed = errors.New("sealed text does not open")

// Box seals what must not lie open at rest: AES-256-GCM with a random nonce (NIST SP 800-38D).
type Box struct{ aead cipher.AEAD }

// NewBox makes a box of a key of 32 bytes.
func NewBox(key []byte) (*Box, error) {
	if len(key) != 32 {
		return nil, fmt.Errorf("a sealing key has 32 bytes, not %d", len(key))
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	return &Box{aead}, nil
}

// Seal encrypts plain. It opens only with the same purpose, so that a sealed text can't be moved
// to another row or column.
func (b *Box) Seal(plain []byte, purpose string) []byte {
	out := make([]byte, 1+b.aead.NonceSize(), 1+b.aead.NonceSize()+len(plain)+b.aead.Overhead())
	out[0] = boxVersion
	_, _ = rand.Read(out[1:]) // never fails, by its documentation
	return b.aead.Seal(out, out[1:], plain, []byte(purpose))
}

// Open decrypts what Seal made for the same purpose; ErrSealed when it is anything else.
func (b *Box) Open(sealed []byte, purpose string) ([]byte, error) {
	n := 1 + b.aead.NonceSize()
	if len(sealed) < n || sealed[0] != boxVersion {
		return nil, ErrSealed
	}
	plain, err := b.aead.Open(nil, sealed[1:n], sealed[n:], []byte(purpose))
	if err != nil {
		return nil, ErrSealed
	}
	return plain, nil
}
