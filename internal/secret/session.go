package secret

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
)

const (
	sessionPrefix   = "cnpys_"
	sessionKeyBytes = 32
)

// SessionToken renews a session once. Whoever lacks the session's key can make neither it nor the next one.
type SessionToken struct {
	// SessionID is the session; Generation counts its tokens, from 1 on.
	SessionID, Generation int64
	mac                   string
}

// NewSessionKey makes the key of a session's tokens: 256 random bits.
func NewSessionKey() []byte {
	key := make([]byte, sessionKeyBytes)
	_, _ = rand.Read(key) // never fails, by its documentation
	return key
}

// NewSessionToken makes the token of a number: always the same one.
func NewSessionToken(key []byte, sessionID, generation int64) SessionToken {
	t := SessionToken{SessionID: sessionID, Generation: generation}
	m := hmac.New(sha256.New, key)
	m.Write([]byte(t.numbers()))
	t.mac = base64.RawURLEncoding.EncodeToString(m.Sum(nil))
	return t
}

// ParseSessionToken reads what String gives; false for any other text. Whether it is one of the session's tokens,
// MadeWith tells.
func ParseSessionToken(s string) (t SessionToken, ok bool) {
	parts := strings.Split(strings.TrimPrefix(s, sessionPrefix), "_")
	if !strings.HasPrefix(s, sessionPrefix) || len(parts) < 3 {
		return t, false
	}
	var errID, errGeneration error
	t.SessionID, errID = strconv.ParseInt(parts[0], 10, 64)
	t.Generation, errGeneration = strconv.ParseInt(parts[1], 10, 32)
	t.mac = strings.Join(parts[2:], "_") // which base64 for URLs has among its digits
	return t, errID == nil && errGeneration == nil && t.String() == s
}

// MadeWith tells, in constant time, whether the token was made with a session's key.
func (t SessionToken) MadeWith(key []byte) bool {
	return hmac.Equal([]byte(t.mac), []byte(NewSessionToken(key, t.SessionID, t.Generation).mac))
}

// String is the token as its holder has it. Its prefix is one that scanners of leaked secrets know.
func (t SessionToken) String() string { return sessionPrefix + t.numbers() + "_" + t.mac }

func (t SessionToken) numbers() string {
	return strconv.FormatInt(t.SessionID, 10) + "_" + strconv.FormatInt(t.Generation, 10)
}
