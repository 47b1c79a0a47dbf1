package resolvers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/problem"
)

// Answer is what a request was answered.
type Answer struct {
	Status int                 `json:"status"`
	Header map[string][]string `json:"header"`
	Body   []byte              `json:"-"`
}

// Claim is the right to do what was asked for under an idempotency key. It is a lease: whoever holds on to it no longer finds
// that another has it, and then can change nothing. A process that is killed leaves it behind.
type Claim struct {
	r       *Resolver
	id      string
	attempt int
	changed atomic.Bool
	// above is the claim of the request, where this one is of a field of it; nil for that itself.
	above *Claim
	// release has it extended no longer, and waits until nobody is about to.
	release func()
}

// How programs know why what was asked for under a key is not done.
const (
	reasonMismatch = "idempotency_mismatch"
	reasonLost     = "idempotency_answer_lost"
	reasonUnderWay = "idempotency_in_progress"
)

// SaysOnce tells whether a reason is one of these: such a refusal is a 409.
func SaysOnce(reason any) bool {
	return reason == reasonMismatch || reason == reasonLost || reason == reasonUnderWay
}

// keepTime bounds what is done for a claim when its request is over.
const keepTime = 10 * time.Second

// Once claims a key for the caller's request, which is given by all that makes it this one and no other. It gives either a
// claim, to be ended, with the context to work in, or the answer that is kept, if may still lets the caller have it. It refuses
// another request under the key, one that is under way, and one whose change was made while its answer was lost.
func (r *Resolver) Once(ctx context.Context, key string, request []string, may func() error) (context.Context, *Claim, *Answer, error) {
	p, err := r.present(ctx) // the body has been read
	if err != nil {
		return ctx, nil, nil, err
	}
	id, sum := p.Credential()+" "+key, requestSum(ctx, p, request)
	sealed := db.SealedRequests.Seal(r.Box, id, sum)
	used, err := r.Store.ClaimKey(ctx, db.IdempotencyKey{
		ID: id, Caller: p.Credential(), BranchID: p.Lineage.Branch(), CustomerID: p.CustomerID, UserID: p.UserID, Request: sealed,
	})
	if errors.Is(err, db.ErrNoRows) {
		used, err = r.Store.IdempotencyKey(ctx, id)
	}
	switch {
	case errors.Is(err, db.ErrNoRows):
		return ctx, nil, nil, noRoom()
	case err != nil:
		return ctx, nil, nil, err
	case used.Made:
		ctx, claim := r.hold(ctx, id, used.Attempt)
		return ctx, claim, nil, nil
	}
	answer, err := r.answered(used, sum, may)
	if answer != nil || err != nil {
		return ctx, nil, answer, err
	}
	attempt, err := r.Store.ReclaimKey(ctx, id, used.Attempt, sealed)
	if errors.Is(err, db.ErrNoRows) {
		return ctx, nil, nil, underWay()
	} else if err != nil {
		return ctx, nil, nil, err
	}
	ctx, claim := r.hold(ctx, id, attempt)
	return ctx, claim, nil, nil
}

// requestSum is the hash of a request, and of what its caller acts for: the same words of a token for another company are
// another request.
func requestSum(ctx context.Context, p *access.Principal, request []string) []byte {
	var account int64
	if a, ok := ctx.Value(admissionKey{}).(*admission); ok {
		account = a.claims.AccountID
	}
	h := sha256.New()
	for _, part := range append([]string{strconv.FormatInt(p.CustomerID, 10), strconv.FormatInt(account, 10)}, request...) {
		_ = binary.Write(h, binary.BigEndian, int64(len(part))) // a hash takes everything
		_, _ = h.Write([]byte(part))
	}
	return h.Sum(nil)
}

// answered gives the answer that is kept under a key which was used, or says why there is none; nil where the key may be
// claimed again.
func (r *Resolver) answered(used *db.IdempotencyKey, sum []byte, may func() error) (*Answer, error) {
	if used.Old {
		return nil, nil
	}
	was, err := db.SealedRequests.Open(r.Box, used.ID, used.Request)
	switch {
	case err != nil:
		return nil, err
	case !bytes.Equal(was, sum):
		return nil, problem.Conflicting(reasonMismatch, "the Idempotency-Key was used for another request")
	case used.Answer != nil:
		if err := may(); err != nil {
			return nil, err
		}
		return openAnswer(r, used)
	case used.Leased:
		return nil, underWay()
	case used.Changed:
		return nil, problem.Conflicting(reasonLost,
			"the request has changed something, and its answer was not kept: it is not done again; what it has done can be read, and stands in the audit log")
	}
	return nil, nil
}

func noRoom() error {
	e := problem.New(problem.RateLimited, "so many answers are kept under idempotency keys that there is no room for another: each is kept for %d hours", int(db.KeptFor.Hours()))
	e.RetryAfter = time.Hour
	return e.With("idempotency_full")
}

func underWay() error {
	e := problem.Conflicting(reasonUnderWay, "a request with this Idempotency-Key is under way")
	e.RetryAfter = time.Second
	return e
}

type claimKey struct{}

// hold has a claim extended for as long as it is not ended.
func (r *Resolver) hold(ctx context.Context, id string, attempt int) (context.Context, *Claim) {
	above, _ := ctx.Value(claimKey{}).(*Claim)
	c := &Claim{r: r, id: id, attempt: attempt, above: above}
	const every = db.ClaimLease / 3
	c.release = repeat(ctx, every, func(ctx context.Context) (again bool) {
		ctx, cancel := context.WithTimeout(ctx, every)
		defer cancel()
		return !errors.Is(r.Store.ExtendClaim(ctx, id, attempt), db.ErrNoRows) // a fault of the database may pass before the lease ends
	})
	return context.WithValue(ctx, claimKey{}, c), c
}

// repeat does something every so often until it says that it need not be done again, or until stop, which waits for it: it is not
// begun afterwards, whatever it was at.
func repeat(ctx context.Context, every time.Duration, do func(context.Context) (again bool)) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for again := true; again; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				again = do(ctx)
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// markClaim writes down, in the transaction of a change, that it is made under the claim of its field or its request, if it has one.
func markClaim(ctx context.Context, tx *db.Store) error {
	c, ok := ctx.Value(claimKey{}).(*Claim)
	if !ok {
		return nil
	}
	err := tx.MarkChanged(ctx, c.id, c.attempt)
	if errors.Is(err, db.ErrNoRows) {
		return underWay()
	}
	return err
}

// noteChange notes that a change under the request's claim, if it has one, was committed.
func noteChange(ctx context.Context) {
	c, _ := ctx.Value(claimKey{}).(*Claim)
	for ; c != nil; c = c.above {
		c.changed.Store(true)
	}
}

// Changed tells whether something was changed under the claim.
func (c *Claim) Changed() bool { return c.changed.Load() }

// End ends a claim with the answer that is to be kept. nil keeps none: where nothing was changed, the key is as if it had not
// been used. An answer that can't be kept is lost to whoever asks again, who is told so.
func (c *Claim) End(ctx context.Context, a *Answer) {
	c.release()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
	defer cancel()
	var err error
	if a == nil {
		err = c.r.Store.ReleaseClaim(ctx, c.id, c.attempt)
	} else {
		err = c.r.Store.KeepAnswer(ctx, c.id, c.attempt, db.SealedAnswers.Seal(c.r.Box, c.id, a.marshal()))
	}
	if err != nil {
		c.r.Log.WarnContext(ctx, "an answer under an idempotency key was not kept", "error", err)
	}
}

// marshal gives an answer as it is kept: a line of JSON, and the body.
func (a *Answer) marshal() []byte {
	head, err := json.Marshal(a)
	if err != nil {
		panic(err) // numbers and texts
	}
	return append(append(head, '\n'), a.Body...)
}

func openAnswer(r *Resolver, used *db.IdempotencyKey) (*Answer, error) {
	plain, err := db.SealedAnswers.Open(r.Box, used.ID, used.Answer)
	if err != nil {
		return nil, err
	}
	head, body, _ := bytes.Cut(plain, []byte{'\n'})
	a := &Answer{Body: body}
	if err := json.Unmarshal(head, a); err != nil {
		return nil, fmt.Errorf("the answer kept under %s: %w", used.ID, err)
	}
	return a, nil
}
