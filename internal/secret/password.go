package secret

import (
	"context"
	"encoding/base64"
	"fmt"
	"runtime"

	"github.com/alexedwards/argon2id"
)

// The lengths of a password: at least MinPassword characters, at most MaxPassword bytes.
const (
	MinPassword = 10
	MaxPassword = 1024
)

// argonVersion is the version of Argon2 that RFC 9106 describes.
const argonVersion = 0x13

// passwordParams are OWASP's minimum for argon2id (Password Storage Cheat Sheet): 19 MiB, two
// passes, one lane.
var passwordParams = &argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// hashing bounds the hashes that are made at once, and with them their memory.
var hashing = make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))

// one takes a place among the hashes under way.
func one(ctx context.Context) error {
	select {
	case hashing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// HashPassword gives the argon2id hash of a password, in the PHC string format.
func HashPassword(ctx context.Context, password string) (string, error) {
	if err := one(ctx); err != nil {
		return "", err
	}
	defer func() { <-hashing }()
	return argon2id.CreateHash(password, passwordParams)
}

// CheckPassword tells whether a hash is the password's. One that is longer than MaxPassword never
// is, and costs no hash: its length says nothing of the user.
func CheckPassword(ctx context.Context, hash, password string) (bool, error) {
	if len(password) > MaxPassword {
		return false, nil
	}
	if err := one(ctx); err != nil {
		return false, err
	}
	defer func() { <-hashing }()
	return argon2id.ComparePasswordAndHash(password, hash)
}

// dummyHash has the cost of any hash and is that of no password: its salt and key are zeros.
var dummyHash = fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argonVersion,
	passwordParams.Memory, passwordParams.Iterations, passwordParams.Parallelism,
	base64.RawStdEncoding.EncodeToString(make([]byte, passwordParams.SaltLength)),
	base64.RawStdEncoding.EncodeToString(make([]byte, passwordParams.KeyLength)))

// DummyCheck takes as long as CheckPassword, so that a login says nothing of whether there is
// such a user.
func DummyCheck(ctx context.Context, password string) {
	_, _ = CheckPassword(ctx, dummyHash, password)
}
