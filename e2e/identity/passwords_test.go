package identity

import (
	"strings"
	"testing"

	"canopy/e2e/platform"
)

// TestPasswordsThatAreGuessedFirst: one that everybody uses, or that is the person's own name, is refused with
// the reason, and the link still works.
func TestPasswordsThatAreGuessedFirst(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	link := s.Link("greta@alpine.example")
	for password, why := range map[string]string{
		"1234567890":             "used most",
		"QwertyUiop":             "used most",
		"password123":            "used most",
		"greta@alpine.example":   "your e-mail address",
		"Greta-greta-1":          "your name",
		"Alpine Energy 2024":     "your company's name",
		"energy.alpine.greta.1!": "your company's name",
	} {
		got := s.Must(400, "POST", "/auth/setup", "", map[string]any{"token": link, "password": password})
		fault := platform.Member(t, got.JSON(t), "errors.0").(map[string]any)
		if fault["location"] != "body.password" || !strings.Contains(fault["message"].(string), why) {
			t.Errorf("%s: %v", password, fault)
		}
	}
	if n := s.Number(`SELECT count(*) FROM users WHERE email = 'greta@alpine.example' AND password_hash IS NOT NULL`); n != 0 {
		t.Error("a refused password is set")
	}
	s.Must(204, "POST", "/auth/setup", "", map[string]any{"token": link, "password": "Greta likes Alpine Energy"})
}
