package canopy

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
)

// Key is an API key.
type Key struct{ ClientID, ClientSecret string }

// Form is the exchange of the key for a token.
func (k Key) Form(app string) url.Values {
	return url.Values{
		"grant_type": {"client_credentials"}, "client_id": {k.ClientID}, "client_secret": {k.ClientSecret}, "target_app": {app},
	}
}

// ReadKeyFile reads what `canopy dev` keeps: the platform's address and the demo key.
func ReadKeyFile(name string) (url string, key Key, err error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return "", key, err
	}
	var kept struct {
		URL string
		Key
	}
	if err := json.Unmarshal(raw, &kept); err != nil {
		return "", key, fmt.Errorf("%s: %w", name, err)
	}
	return kept.URL, kept.Key, nil
}

// PrintedKey reads the key that `canopy bootstrap` prints.
func PrintedKey(text string) (k Key) {
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, " ")
		switch name {
		case "client_id":
			k.ClientID = strings.TrimSpace(value)
		case "client_secret":
			k.ClientSecret = strings.TrimSpace(value)
		}
	}
	return k
}
