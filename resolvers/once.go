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
	// sum is the hash of the request.
	sum     []byte
	changed atomic.Bool
	// spent: the key stays its request's whatever that is answered, as something may have been done for it, here or in another cell.
	spent atomic.Bool
	// left: another cell answers the request.
	left bool
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

// SaysMismatch tells whether a reason is that a key was used for another request.
func SaysMismatch(reason any) bool { return reason == reasonMismatch }

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
	c := r.claimOf(p, key, requestSum(ctx, p, request))
	used, err := c.take(ctx, p, db.ClaimLease)
	if err != nil {
		return ctx, nil, nil, err
	}
	if !used.Made {
		answer, err := r.answered(used, c.sum, may)
		if answer != nil || err != nil {
			return ctx, nil, answer, err
		}
		if err := c.takeAgain(ctx, used, db.ClaimLease); err != nil {
			return ctx, nil, nil, err
		}
	}
	return c.hold(ctx), c, nil, nil
}

// OnceFor notes that a part of a request under a key is done here for another cell, which has given the hash of the whole request: under that key no other request is done
// here, whoever passes it on. Nobody waits for it, and GiveBack ends it.
func (r *Resolver) OnceFor(ctx context.Context, key string, sum []byte) (context.Context, *Claim, error) {
	p, err := r.present(ctx)
	if err != nil {
		return ctx, nil, err
	}
	c := r.claimOf(p, key, sum)
	used, err := c.take(ctx, p, 0)
	switch {
	case err != nil:
		return ctx, nil, err
	case used.Made:
	case used.Old:
		err = c.takeAgain(ctx, used, 0)
	default:
		c.attempt = 0 // it is given back by whoever has made it
		err = r.isSame(used, sum)
	}
	return context.WithValue(ctx, claimKey{}, c), c, err
}

// claimOf is a claim of a caller that is not made yet.
func (r *Resolver) claimOf(p *access.Principal, key string, sum []byte) *Claim {
	return &Claim{r: r, id: p.Credential() + " " + key, sum: sum}
}

// take makes a claim of a key that was not used, and otherwise gives how that was used.
func (c *Claim) take(ctx context.Context, p *access.Principal, lease time.Duration) (*db.IdempotencyKey, error) {
	used, err := c.r.Store.ClaimKey(ctx, db.IdempotencyKey{
		ID: c.id, Caller: p.Credential(), BranchID: p.Lineage.Branch(), CustomerID: p.CustomerID, UserID: p.UserID, Request: c.sealed(),
	}, lease)
	if errors.Is(err, db.ErrNoRows) {
		used, err = c.r.Store.IdempotencyKey(ctx, c.id)
	}
	if errors.Is(err, db.ErrNoRows) {
		return nil, noRoom()
	} else if err != nil {
		return nil, err
	}
	c.attempt = used.Attempt
	return used, nil
}

// takeAgain makes a claim of a key that was used before.
func (c *Claim) takeAgain(ctx context.Context, used *db.IdempotencyKey, lease time.Duration) (err error) {
	c.spent.Store(!used.Old) // somebody else may have begun
	c.attempt, err = c.r.Store.ReclaimKey(ctx, c.id, used.Attempt, c.sealed(), lease)
	if errors.Is(err, db.ErrNoRows) {
		return underWay()
	}
	return err
}

func (c *Claim) sealed() []byte { return db.SealedRequests.Seal(c.r.Box, c.id, c.sum) }

// Sum is the hash of the request.
func (c *Claim) Sum() []byte { return c.sum }

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
	err := r.isSame(used, sum)
	switch {
	case err != nil:
		return nil, err
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

// isSame refuses a request under a key that was used for another one.
func (r *Resolver) isSame(used *db.IdempotencyKey, sum []byte) error {
	was, err := db.SealedRequests.Open(r.Box, used.ID, used.Request)
	if err == nil && !bytes.Equal(was, sum) {
		err = problem.Conflicting(reasonMismatch, "the Idempotency-Key was used for another request")
	}
	return err
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
func (c *Claim) hold(ctx context.Context) context.Context {
	c.above, _ = ctx.Value(claimKey{}).(*Claim)
	const every = db.ClaimLease / 3
	c.release = repeat(ctx, every, func(ctx context.Context) (again bool) {
		ctx, cancel := context.WithTimeout(ctx, every)
		defer cancel()
		return !errors.Is(c.r.Store.ExtendClaim(ctx, c.id, c.attempt), db.ErrNoRows) // a fault of the database may pass before the lease ends
	})
	return context.WithValue(ctx, claimKey{}, c)
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

// Spend has the key stay that of its request, whatever this is answered, as something may have been done for it elsewhere. So may nil, which is no claim.
func (c *Claim) Spend() {
	if c != nil {
		c.spent.Store(true)
	}
}

// SpendClaim does so with the claim of a request, if it has one.
func SpendClaim(ctx context.Context) {
	c, _ := ctx.Value(claimKey{}).(*Claim)
	c.Spend()
}

// Leave has the key stay that of its request for now, as another cell answers it: GiveBack gives it back, if that refuses it.
func (c *Claim) Leave() { c.left = true }

// End ends a claim with the answer that is to be kept. nil keeps none: where nothing was changed, and the key is not spent, it is as if it had not
// been used. An answer that can't be kept is lost to whoever asks again, who is told so.
func (c *Claim) End(ctx context.Context, a *Answer) {
	c.release()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
	defer cancel()
	var err error
	switch {
	case a != nil:
		c.above.Spend()
		err = c.r.Store.KeepAnswer(ctx, c.id, c.attempt, db.SealedAnswers.Seal(c.r.Box, c.id, a.marshal()))
	case c.spent.Load() || c.left || c.Changed():
		c.above.Spend()
		err = c.r.Store.EndClaim(ctx, c.id, c.attempt)
	default:
		err = c.r.Store.ReleaseClaim(ctx, c.id, c.attempt)
	}
	if err != nil {
		c.r.Log.WarnContext(ctx, "an answer under an idempotency key was not kept", "error", err)
	}
}

// GiveBack has a key that OnceFor has noted, or that was left to another cell, be as if it had not been used, where this was the first use of it and nothing came of it.
func (c *Claim) GiveBack(ctx context.Context) {
	if c.attempt == 0 || c.spent.Load() || c.Changed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
	defer cancel()
	if err := c.r.Store.ReleaseClaim(ctx, c.id, c.attempt); err != nil {
		c.r.Log.WarnContext(ctx, "an idempotency key was not given back", "error", err)
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
