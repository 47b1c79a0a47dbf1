package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	canopy "canopy/clients/go"
)

// login is what canopy login keeps: an API key, or a person's session.
type login struct {
	URL          string    `json:"url"`
	ClientID     string    `json:"clientId,omitempty"`
	ClientSecret string    `json:"clientSecret,omitempty"`
	Email        string    `json:"email,omitempty"`
	RefreshToken string    `json:"refreshToken,omitempty"`
	AccessToken  string    `json:"token,omitempty"`
	Expires      time.Time `json:"expires,omitzero"`

	file string
	// waits is what is told of a wait while the session is renewed; may be nil.
	waits func(error, time.Duration)
}

// spareToken is how long before its end a kept token is no longer used.
const spareToken = 3 * time.Minute

// loginFile is where a login is kept.
func (m *Main) loginFile() (string, error) {
	if dir := m.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "canopy", "login.json"), nil
	}
	if home := m.Getenv("HOME"); home != "" {
		return filepath.Join(home, ".config", "canopy", "login.json"), nil
	}
	return "", errors.New("HOME is not set: there is no place to keep a login")
}

// readLogin reads the login that is kept; an empty one where there is none.
func (m *Main) readLogin() (*login, error) {
	file, err := m.loginFile()
	if err != nil {
		return &login{}, nil // where nothing can be kept nothing is
	}
	return readLogin(file)
}

func readLogin(file string) (*login, error) {
	l := &login{file: file}
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by others: chmod 600 takes that from them; what it holds may be known already", file)
	}
	raw, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(raw, l)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: canopy login writes it anew", file, err)
	}
	return l, nil
}

// keepLogin writes a login down, for its owner alone.
func (m *Main) keepLogin(l *login) (file string, err error) {
	if l.file, err = m.loginFile(); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(l.file), 0o700); err != nil {
		return "", err
	}
	return l.file, l.locked(l.write)
}

// write puts the login in the place of the one before at once, so that whoever reads it has one of the two.
func (l *login) write() error {
	raw, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	next, err := os.CreateTemp(filepath.Dir(l.file), "login-*.json") // mode 0600
	if err != nil {
		return err
	}
	_, err = next.Write(append(raw, '\n'))
	if err = errors.Join(err, next.Close()); err == nil {
		err = os.Rename(next.Name(), l.file)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(next.Name()))
	}
	return err
}

func (l *login) remove() error { return l.locked(func() error { return os.Remove(l.file) }) }

// locked keeps other commands from the login meanwhile.
func (l *login) locked(do func() error) error {
	lock, err := os.OpenFile(filepath.Join(filepath.Dir(l.file), "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // which ends the lock
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	return do()
}

// use has a client act as the login says.
func (l *login) use(c *canopy.Client) {
	if l.RefreshToken == "" {
		c.Key = canopy.Key{ClientID: l.ClientID, ClientSecret: l.ClientSecret}
		return
	}
	l.waits, c.Login = c.Waits, l
}

// Token gives the session's access token. A refresh token is good once: commands that run at the same time renew one after the other, and
// find what the one before has kept.
func (l *login) Token(ctx context.Context) (token string, expires time.Time, err error) {
	err = l.locked(func() error {
		kept, err := readLogin(l.file)
		if err != nil {
			return err
		}
		if kept.RefreshToken == "" || kept.URL != l.URL || kept.Email != l.Email {
			return errors.New("somebody else has signed in meanwhile")
		}
		if time.Until(kept.Expires) > spareToken {
			token, expires = kept.AccessToken, kept.Expires
			return nil
		}
		signed, err := (&canopy.Client{URL: kept.URL, Retries: retries, Waits: l.waits}).Renew(ctx, kept.RefreshToken)
		if refusal := new(canopy.Refusal); errors.As(err, &refusal) && refusal.Code == "session_ended" {
			return fmt.Errorf("%w: canopy login begins another", err)
		}
		if err != nil {
			return err
		}
		kept.RefreshToken, kept.AccessToken, kept.Expires = signed.RefreshToken, signed.Token, signed.Expires()
		token, expires = kept.AccessToken, kept.Expires
		return kept.write()
	})
	return token, expires, err
}
