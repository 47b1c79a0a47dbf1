package doctor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"canopy/db"
	"canopy/internal/blob"
	"canopy/internal/mail"
	"canopy/internal/secret"
	"canopy/jobs"
)

// secretKey compares the keys with those that something in the database is sealed with.
func (v *Visit) secretKey(ctx context.Context) {
	switch {
	case len(v.cfg.SecretKeys) == 0:
		v.unknown("secret key", "CANOPY_SECRET_KEY is not set, or can't be read")
		return
	case v.store == nil:
		v.unknown("secret key", "the database could not be asked which keys it needs")
		return
	}
	box, err := secret.NewBox(v.cfg.SecretKeys...)
	if err == nil {
		err = jobs.CompareSealingKeys(ctx, v.store, box)
	}
	if err != nil {
		v.found("secret key", Fault, "take it from where it is kept: without it secrets, signing keys and mails can't be opened", "%v", err)
		return
	}
	beside, err := jobs.SealersBeside(ctx, v.store, box)
	switch {
	case err != nil:
		v.unknown("secret key", err.Error())
		return
	case len(beside) > 0:
		v.found("secret key", Warning, "start each process with both keys before one seals with the newer, or what it seals opens in no other",
			"a process runs that seals with %s, and the newest key here is %s", strings.Join(beside, " and "), box.KeyIDs()[0])
	}
	if len(v.cfg.SecretKeys) > 1 {
		v.found("secret key", Warning, "end the replacement: `canopy secret-key rotate`, then take the older ones out", "%d keys are set", len(v.cfg.SecretKeys))
		return
	}
	v.ok("secret key", "%s opens what the database has sealed", box.KeyIDs()[0])
}

// blobs writes something small, reads it back and takes it away.
func (v *Visit) blobs(ctx context.Context) {
	if v.cfg.BlobURL == "" {
		v.found("blob store", Warning, "set CANOPY_BLOB_URL, the same for serve and worker", "there is none: uploads are refused")
		return
	}
	store, err := blob.Open(ctx, v.cfg.BlobURL)
	if err == nil {
		err = errors.Join(tryBlobs(ctx, store), v.originals(ctx, store), store.Close())
	}
	switch {
	case err != nil:
		v.found("blob store", Fault, "see that the folder or bucket is there, and that reading, writing and deleting are allowed", "%v", err)
	case strings.HasPrefix(v.cfg.BlobURL, "file:"):
		v.ok("blob store", "a folder, read and written: each serve and worker has to see the same one")
	default:
		v.ok("blob store", "a bucket, read and written")
	}
}

// originals looks for that of the newest document: a folder that is not mounted, or another bucket, has none.
func (v *Visit) originals(ctx context.Context, store blob.Store) error {
	if v.store == nil {
		return nil
	}
	key, err := v.store.NewestOriginal(ctx)
	if errors.Is(err, db.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if c := v.store.Cell(); c != nil {
		store = blob.Below(store, db.BlobsOfCell(c.Number))
	}
	r, err := store.Open(ctx, key)
	if errors.Is(err, blob.ErrNotFound) {
		v.found("originals", Warning, "see that CANOPY_BLOB_URL leads to where the files of documents are, and that it is mounted",
			"the newest document's is not in the blob store: what there is of documents is found, and none of those can be processed anew")
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	return r.Close()
}

func tryBlobs(ctx context.Context, store blob.Store) (err error) {
	key, content := "doctor/"+strings.ToLower(rand.Text()), rand.Text()
	if err := store.Write(ctx, key, strings.NewReader(content)); err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	defer func() {
		if deleted := store.Delete(context.WithoutCancel(ctx), key); deleted != nil {
			err = errors.Join(err, fmt.Errorf("deleting: %w", deleted))
		}
	}()
	r, err := store.Open(ctx, key)
	if err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	defer func() { _ = r.Close() }()
	got, err := io.ReadAll(r)
	if err == nil && string(got) != content {
		err = errors.New("what was written comes back as something else")
	}
	return err
}

// mail logs in to the mail server, and sends nothing.
func (v *Visit) mail(ctx context.Context) {
	if slices.Contains(v.faulty, "CANOPY_SMTP_URL") {
		v.unknown("mail server", "CANOPY_SMTP_URL can't be read")
		return
	}
	if v.cfg.SMTPURL == "" {
		v.found("mail server", Warning, "set CANOPY_SMTP_URL for the workers", "there is none: invitations and links wait in the database")
		return
	}
	s, err := mail.NewSMTP(v.cfg.SMTPURL)
	if err == nil {
		err = s.Try(ctx)
	}
	if err != nil {
		v.found("mail server", Fault, "see host, port, TLS, user and password of CANOPY_SMTP_URL, and that this machine may connect", "%v", err)
		return
	}
	v.ok("mail server", "it lets the platform in; no mail was sent")
}

// publicURL asks for the platform where everybody does.
func (v *Visit) publicURL(ctx context.Context) {
	at := v.cfg.PublicURL
	if at == nil || slices.Contains(v.faulty, "CANOPY_PUBLIC_URL") {
		v.unknown("public address", "CANOPY_PUBLIC_URL can't be read")
		return
	}
	if v.Getenv("CANOPY_PUBLIC_URL") == "" {
		v.found("public address", Warning, "set CANOPY_PUBLIC_URL to the address that everybody uses", "it is not set: tokens and the links in mails name %s", at)
		return
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.JoinPath("readyz").String(), nil)
	if err != nil {
		v.found("public address", Fault, "", "%v", err)
		return
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		v.found("public address", Warning, "start `canopy serve`, or see to the name, the balancer and its certificate", "the platform does not answer at %s from here: %v", at, err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case resp.StatusCode != http.StatusOK:
		v.found("public address", Warning, "see what /readyz says", "%s answers /readyz with %d", at, resp.StatusCode)
	case at.Scheme != "https":
		v.found("public address", Warning, "put TLS before the platform, and write https:// in CANOPY_PUBLIC_URL", "%s answers, and passwords and tokens can be read on the way", at)
	default:
		v.ok("public address", "%s is ready", at)
	}
}
