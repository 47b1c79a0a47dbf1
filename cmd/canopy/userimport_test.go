package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// TestUserImport imports people, again after a break, and looks at what it tells.
func TestUserImport(t *testing.T) {
	s := platform.Start(t)
	dir := t.TempDir()
	report := filepath.Join(dir, "report.csv")
	run := func(content string, args ...string) (code int, out string) {
		path := filepath.Join(dir, "people.csv")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		env := map[string]string{"CANOPY_CLIENT_ID": s.Demo.ClientID, "CANOPY_CLIENT_SECRET": s.Demo.ClientSecret}
		m := &Main{Stdout: &stdout, Stderr: &stderr, Getenv: func(name string) string { return env[name] }}
		code = m.Run(t.Context(), append(append([]string{"user", "import", "--url", s.URL, "--report", report}, args...), path))
		return code, stdout.String() + stderr.String()
	}
	members := func() int64 { return s.Number(`SELECT count(*) FROM memberships WHERE customer_id = 1`) }
	expect := func(code int, out string, wantCode int, words ...string) {
		t.Helper()
		for _, w := range words {
			if !strings.Contains(out, w) {
				t.Errorf("%q is missing: %s", w, out)
			}
		}
		if code != wantCode {
			t.Errorf("exit code %d: %s", code, out)
		}
	}
	before := members()
	var people strings.Builder
	people.WriteString("\ufeffLastName,Email,FirstName\n")
	for i := range 250 {
		fmt.Fprintf(&people, "\"Hill, %d\",p%d@import.example,Ada\n", i, i)
	}
	faulty := people.String() + "No,no address,One\nNone,,One\nTwice,P7@import.example,Ada\n"
	code, out := run(faulty, "--dry-run")
	expect(code, out, exitFault, "250 would be added, 1 are there already, 2 would fail", "line 252: no address", "2 would not be added")
	if members() != before {
		t.Error("a dry run has added somebody")
	}
	code, out = run(strings.Join(strings.SplitAfter(people.String(), "\n")[:120], ""))
	expect(code, out, exitOK, "119 added, 0 there already, 0 failed") // and then it broke off
	code, out = run(faulty)
	expect(code, out, exitFault, "131 added, 120 there already, 2 failed", "line 252: no address: email: ", "line 253: there is no e-mail address")
	if n := members() - before; n != 250 {
		t.Errorf("%d people were added", n)
	}
	if n := s.Number(`SELECT count(*) FROM users WHERE email = 'p249@import.example' AND first_name = 'Ada' AND last_name = 'Hill, 249'`); n != 1 {
		t.Error("names are lost")
	}
	told, err := os.ReadFile(report)
	if err != nil || strings.Count(string(told), "\n") != 254 || !strings.Contains(string(told), "\n252,no address,failed,BAD_REQUEST,") ||
		!strings.Contains(string(told), "\n2,p0@import.example,there,,\n") || !strings.Contains(string(told), "\n251,p249@import.example,added,,\n") {
		t.Errorf("%v %s", err, told)
	}
	// What is wrong with a line by itself is told before anything is asked for, the same by a dry run, and in the order of the lines.
	const odd = "email,firstName\nodd1@import.example,Ada\nodd2@import.example,http://spam\nodd3@import.example\nodd4@import.example,A,B\nodd5@import.example,M\xfcller\n,Nobody\n"
	for _, args := range [][]string{{"--dry-run"}, nil} {
		code, out = run(odd, args...)
		expect(code, out, exitFault, "1 ", ", 5 ", "line 3: odd2@import.example: firstName: must be a name, without ://", "line 4: odd3@import.example: there are 1 fields",
			"line 5: odd4@import.example: there are 3 fields", "line 6: odd5@import.example: is not in UTF-8", "line 7: there is no e-mail address")
		if report := string(devtest.Must[[]byte](t)(os.ReadFile(report))); strings.Index(report, "\n2,") > strings.Index(report, "\n3,") || strings.Index(report, "\n6,") > strings.Index(report, "\n7,") {
			t.Errorf("the report is out of order: %s", report)
		}
	}
	if n := s.Number(`SELECT count(*) FROM users WHERE email LIKE 'odd%@import.example'`); n != 1 {
		t.Errorf("%d of the odd lines' people were added", n)
	}
	// A line that is far too long is refused by itself, and what looks like a formula is none to a spreadsheet.
	long := strings.Repeat("x", 3<<20)
	hostile := "email,firstName\nfine1@import.example,Ada\nlong@import.example," + long + "\n" + long + "@import.example,Ada\n=HYPERLINK(1),Ada\n+1@import.example,Ada\n-2,Ada\n@SUM(1),Ada\nfine2@import.example,Ada\n"
	for _, args := range [][]string{{"--dry-run"}, nil} {
		code, out = run(hostile, args...)
		expect(code, out, exitFault, "3 ", ", 5 ", "line 3: long@import.example: a field is longer than 300 characters", "line 4: xxx")
		told := string(devtest.Must[[]byte](t)(os.ReadFile(report)))
		for _, line := range []string{"\n5,'=HYPERLINK(1),failed,", "\n6,'+1@import.example,added,", "\n7,'-2,failed,", "\n8,'@SUM(1),failed,", "\n9,fine2@import.example,added,"} {
			if !strings.Contains(told, line) {
				t.Errorf("the report lacks %q: %.1000s", line, told)
			}
		}
		if len(told)+len(out) > 4000 {
			t.Errorf("%d bytes are told", len(told)+len(out))
		}
	}
	code, out = run("email,firstName\nodd6@import.example,\"Ada\n")
	expect(code, out, exitFault, "what follows was not read")
	code, out = run("email,firstName,Email\nx@import.example,Ada,y@import.example\n")
	expect(code, out, exitFault, "names the column email twice")
	code, out = run("name\nAda\n")
	expect(code, out, exitFault, "one of which is email", `no column "name"`)
	before = members()
	if err := os.WriteFile(report, []byte("of before"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, {"--dry-run"}} { // what would not be done is not passed over, and the report of before is kept
		code, out = run("e-mail,Email,First_Name,permisions,\nx@import.example,strange@import.example,Ada,all,\n", args...)
		expect(code, out, exitFault, `no column "e-mail": did you mean email?`, `no column "First_Name": did you mean firstName?`,
			`no column "permisions": there are email, firstName, lastName`, "the column 5 has no name")
	}
	if kept := devtest.Must[[]byte](t)(os.ReadFile(report)); members() != before || string(kept) != "of before" {
		t.Errorf("somebody was added, or the report is %q", kept)
	}
	itself := filepath.Join(dir, "people.csv")
	code, out = run(people.String(), "--report", itself)
	expect(code, out, exitUsage, "another file")
	if kept := devtest.Must[[]byte](t)(os.ReadFile(itself)); string(kept) != people.String() {
		t.Errorf("of the people's file %d bytes are left", len(kept))
	}
	code, out = run(people.String(), "--customer", "4711")
	expect(code, out, exitFault, "4711")
}
