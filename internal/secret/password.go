package secret

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strconv"

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

// The gates bound the hashes that are made at once, and with them their memory, and those that wait. Strangers have one
// of their own: a crowd that comes from more networks than can wait fills it, and nobody can be told from the crowd.
var (
	known     = share.NewBoundedGate[string](2*processors, 16*processors)
	strangers = share.NewBoundedGate[string](processors, 16*processors)
)

var processors = max(2, runtime.GOMAXPROCS(0))

// Asker is who asks for a hash. Of several, none keeps the others waiting.
type Asker struct {
	gate *share.Gate[string]
	name string
}

// Known is somebody of a branch who is known before the password is: by a link, or by where it comes from.
func Known(branchID int64) Asker { return Asker{known, strconv.FormatInt(branchID, 10)} }

// Stranger is anybody else, by the group of addresses that it comes from. That says nothing of whether there is such a user.
func Stranger(network string) Asker { return Asker{strangers, network} }

// ErrBusy says that too many hashes are asked for at the moment.
var ErrBusy = errors.New("too many passwords are being checked")

// enter takes a place among the hashes under way.
func (a Asker) enter(ctx context.Context) error {
	err := a.gate.Enter(ctx, a.name)
	if errors.Is(err, share.ErrFull) {
		return ErrBusy
	}
	return err
}

func (a Asker) leave() { a.gate.Leave(a.name) }

// HashPassword gives the argon2id hash of a password, in the PHC string format. ErrBusy says that too many ask.
func HashPassword(ctx context.Context, from Asker, password string) (string, error) {
	if err := from.enter(ctx); err != nil {
		return "", err
	}
	defer from.leave()
	return argon2id.CreateHash(password, passwordParams)
}

// CheckPassword tells whether a hash is the password's. One that is longer than MaxPassword never
// is, and costs no hash: its length says nothing of the user. ErrBusy says that too many ask.
func CheckPassword(ctx context.Context, from Asker, hashed, password string) (bool, error) {
	if len(password) > MaxPassword {
		return false, nil
	}
	if err := from.enter(ctx); err != nil {
		return false, err
	}
	defer from.leave()
	return argon2id.ComparePasswordAndHash(password, hashed)
}

// dummyHash has the cost of any hash and is that of no password: its salt and key are zeros.
var dummyHash = fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argonVersion,
	passwordParams.Memory, passwordParams.Iterations, passwordParams.Parallelism,
	base64.RawStdEncoding.EncodeToString(make([]byte, passwordParams.SaltLength)),
	base64.RawStdEncoding.EncodeToString(make([]byte, passwordParams.KeyLength)))

// DummyCheck takes as long as CheckPassword, and fails as it does, so that a login says nothing of whether
// there is such a user.
func DummyCheck(ctx context.Context, from Asker, password string) error {
	_, err := CheckPassword(ctx, from, dummyHash, password)
	return err
}
