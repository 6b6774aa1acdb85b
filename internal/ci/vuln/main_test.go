package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// asGate makes the test's own program the gate.
const asGate = "FIRSTLIGHT_TEST_VULN_GATE"

func TestMain(m *testing.M) {
	if os.Getenv(asGate) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// .ci/run with a stub of make: only its exit status decides, and only a database that cannot
// be reached by its name excuses from asking. Until November 2026 the words "Forbidden" and
// "dial tcp" in a finding did, too.
func TestVulnerabilityGate(t *testing.T) {
	t.Parallel()
	answers := func(status int) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		t.Cleanup(s.Close)
		return s.URL
	}
	there := answers(http.StatusOK)
	stranger := httptest.NewTLSServer(http.NotFoundHandler()) // whose certificate is not trusted
	t.Cleanup(stranger.Close)
	away := httptest.NewServer(http.NotFoundHandler())
	away.Close()
	for name, c := range map[string]struct {
		database, output string
		exit             string
		passes, asked    bool
	}{
		"no finding":                           {there, "No vulnerabilities found.", "0", true, true},
		"a finding":                            {there, "Vulnerability #1: GO-2026-0001", "3", false, true},
		"a finding about Forbidden":            {there, "a header Forbidden by RFC 9110 crashes net/http", "3", false, true},
		"a finding whose trace has dial tcp":   {there, "#1: x.go:1:1: dial tcp: x calls net.Dial; no such host", "3", false, true},
		"a finding that names the database":    {there, "More info: https://pkg.go.dev/vuln/x, vuln.go.dev; fetching vulnerabilities", "3", false, true},
		"the database is lost meanwhile":       {there, "fetching vulnerabilities: dial tcp: no such host", "1", false, true},
		"the database answers with an error":   {answers(http.StatusForbidden), "fetching vulnerabilities: 403 Forbidden", "1", false, true},
		"a certificate that is not trusted":    {stranger.URL, "fetching vulnerabilities: x509", "1", false, true},
		"nothing listens":                      {away.URL, "not asked", "3", true, false},
		"the name is unknown":                  {"http://vuln.invalid", "not asked", "3", true, false},
		"an invalid database URL":              {"::", "not asked", "0", false, false},
		"make ends by a signal, without words": {there, "", "signal", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, targets, err := runCI(t, c.database, c.output, c.exit)
			if (err == nil) != c.passes {
				t.Errorf("the run ends with %v, want a pass: %v\n%s", err, c.passes, out)
			}
			if got := strings.Contains(targets, "vuln"); got != c.asked {
				t.Errorf("make vuln was run: %v, want %v", got, c.asked)
			}
			if got := strings.Contains(out, "NOT RUN"); got != (c.passes && !c.asked) {
				t.Errorf("NOT RUN is printed: %v\n%s", got, out)
			}
			if got := strings.HasSuffix(targets, "test\n"); got != c.passes {
				t.Errorf("targets were %q; the tests follow a pass alone", targets)
			}
			if c.asked && !strings.Contains(out, c.output) {
				t.Errorf("the output of make vuln is not in %q", out)
			}
		})
	}
}

// runCI runs .ci/run with stubs of make and go, and returns what it printed and the targets that
// it made, a line each.
func runCI(t *testing.T, database, output, exit string) (out, targets string, err error) {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"make": `echo "$1" >>"$STUBS/targets"
[ "$1" = vuln ] || exit 0
printf '%s\n' "$STUB_OUTPUT"
[ "$STUB_EXIT" = signal ] && kill -KILL $$
exit "$STUB_EXIT"`,
		"go": `case "$1" in
env) echo /nowhere ;;
run) ` + asGate + `=1 exec "` + self + `" ;;
esac`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	run, err := filepath.Abs(filepath.Join("..", "..", "..", ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), run)
	cmd.Env = []string{
		"PATH=" + dir + ":/usr/local/bin:/usr/bin:/bin", "STUBS=" + dir, "STUB_OUTPUT=" + output, "STUB_EXIT=" + exit, "VULNDB=" + database,
	}
	raw, err := cmd.CombinedOutput()
	made, readErr := os.ReadFile(filepath.Join(dir, "targets"))
	if readErr != nil {
		t.Fatal(readErr)
	}
	return string(raw), string(made), err
}
