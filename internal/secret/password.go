package secret

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"

	"github.com/alexedwards/argon2id"

	"canopy/internal/share"
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

// hashing bounds the hashes that are made at once, and with them their memory, and those that wait. Its
// keys are the groups of addresses that ask: they say nothing of whether there is such a user.
var hashing = share.NewBoundedGate[string](2*processors, 16*processors)

var processors = max(2, runtime.GOMAXPROCS(0))

// ErrBusy says that too many hashes are asked for at the moment.
var ErrBusy = errors.New("too many passwords are being checked")

// hash takes a place among the hashes under way. leave gives it back.
func hash(ctx context.Context, from string) (leave func(), err error) {
	if err := hashing.Enter(ctx, from); errors.Is(err, share.ErrFull) {
		return nil, ErrBusy
	} else if err != nil {
		return nil, err
	}
	return func() { hashing.Leave(from) }, nil
}

// HashPassword gives the argon2id hash of a password, in the PHC string format. from is who asks: of
// several, none keeps the others waiting. ErrBusy says that too many do.
func HashPassword(ctx context.Context, from, password string) (string, error) {
	leave, err := hash(ctx, from)
	if err != nil {
		return "", err
	}
	defer leave()
	return argon2id.CreateHash(password, passwordParams)
}

// CheckPassword tells whether a hash is the password's. One that is longer than MaxPassword never
// is, and costs no hash: its length says nothing of the user. from is who asks, as for HashPassword.
func CheckPassword(ctx context.Context, from, hashed, password string) (bool, error) {
	if len(password) > MaxPassword {
		return false, nil
	}
	leave, err := hash(ctx, from)
	if err != nil {
		return false, err
	}
	defer leave()
	return argon2id.ComparePasswordAndHash(password, hashed)
}

// dummyHash has the cost of any hash and is that of no password: its salt and key are zeros.
var dummyHash = fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argonVersion,
	passwordParams.Memory, passwordParams.Iterations, passwordParams.Parallelism,
	base64.RawStdEncoding.EncodeToString(make([]byte, passwordParams.SaltLength)),
	base64.RawStdEncoding.EncodeToString(make([]byte, passwordParams.KeyLength)))

// DummyCheck takes as long as CheckPassword, and fails as it does, so that a login says nothing of whether
// there is such a user.
func DummyCheck(ctx context.Context, from, password string) error {
	_, err := CheckPassword(ctx, from, dummyHash, password)
	return err
}
