package suite

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The nightly tests and those before a change install the same programs: all packages of docs/testing.md.
func TestProgramsOfDebian(t *testing.T) {
	t.Parallel()
	read := func(path ...string) string {
		data, err := os.ReadFile(filepath.Join(path...))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	const script = "internal/suite/programs.sh"
	if !strings.Contains(read("..", "..", "Makefile"), "\ntest-all:\n\t"+script+"\n") {
		t.Error("make test-all does not run " + script)
	}
	if !strings.Contains(read("..", "..", ".ci", "run"), "\ninstall_programs() { "+script+"; }\n") {
		t.Error(".ci/run does not run " + script)
	}
	_, install, _ := strings.Cut(read("programs.sh"), "--no-install-recommends ")
	install, _, _ = strings.Cut(install, ";")
	_, table, _ := strings.Cut(read("..", "..", "docs", "testing.md"), "| tests | packages | also need |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	n := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		packages, _, _ := strings.Cut(cells[min(2, len(cells)-1)], "(")
		for _, p := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(packages, -1) {
			if n++; !slices.Contains(strings.Fields(install), p[1]) {
				t.Errorf("%s does not install %s", script, p[1])
			}
		}
	}
	if n < 8 {
		t.Errorf("%d packages in the table", n)
	}
}

// Without root nothing is installed, and the missing programs are printed. A machine that has all is not changed.
func TestMissingProgramsAreNamed(t *testing.T) {
	t.Parallel()
	stubs := t.TempDir()
	for name, script := range map[string]string{"id": "echo 1000", "apt-get": "echo called; exit 1"} {
		if err := os.WriteFile(filepath.Join(stubs, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct{ program, want string }{
		"missing": {"/nowhere/opensm", "missing: /nowhere/opensm, and this is not root on Debian or Ubuntu: their tests will be skipped\n"},
		"there":   {"/bin/sh", ""},
	} {
		cmd := exec.CommandContext(t.Context(), "./programs.sh", tt.program)
		cmd.Env = []string{"PATH=" + stubs + ":/usr/local/bin:/usr/bin:/bin"}
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != tt.want {
			t.Errorf("%s: %v, %q", name, err, out)
		}
	}
}
