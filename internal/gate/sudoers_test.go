package gate_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

func exampleWithProfile(t *testing.T) (*site.Site, *profile.Profile) {
	t.Helper()
	s, err := site.Parse("example", site.Example())
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load(s.Profile)
	if err != nil {
		t.Fatal(err)
	}
	return s, p
}

// The file has the commands that need root, each with its arguments or with "" for none, and
// no others; visudo accepts it.
func TestSudoersAllowTheCommandsOfTheGates(t *testing.T) {
	t.Parallel()
	s, p := exampleWithProfile(t)
	data, err := gate.Sudoers(s, p, "ops", site.Gates(), map[string]string{"sminfo": "/opt/ofed/sbin/sminfo"})
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	for line := range strings.Lines(string(data)) {
		if rule, ok := strings.CutPrefix(line, "ops ALL=(root) NOPASSWD: "); ok {
			rules = append(rules, strings.TrimSpace(rule))
		}
	}
	want := []string{
		`/usr/bin/ibdiagnet -o /var/tmp/firstlight-ibdiagnet --screen_num_errs 1000000`, `/usr/sbin/iblinkinfo -l`, `/usr/sbin/ibqueryerrors --threshold-file /dev/null`, `/opt/ofed/sbin/sminfo ""`,
		`/usr/bin/lspci -D -vvv -d \:\:0604`, `/usr/bin/dcgmi diag -r 3 -p pcie.h2d_d2h_single_pinned.min_pci_generation\=5 -j`, `/usr/bin/dmesg ""`,
	}
	if strings.Join(rules, "\n") != strings.Join(want, "\n") {
		t.Errorf("rules:\n%s\nwant:\n%s", strings.Join(rules, "\n"), strings.Join(want, "\n"))
	}
	if strings.Count(string(data), "NOPASSWD") != len(want) || !strings.Contains(string(data), "Defaults:ops !requiretty") {
		t.Errorf("%s", data)
	}
	visudo, err := exec.LookPath("visudo")
	if err != nil {
		t.Skip("needs visudo, to check the file: apt-get install sudo")
	}
	file := filepath.Join(t.TempDir(), "sudoers")
	if err := os.WriteFile(file, data, 0o440); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), visudo, "-cf", file).CombinedOutput(); err != nil {
		t.Errorf("visudo: %v: %s", err, out)
	}
	if err := os.WriteFile(file+"-bad", []byte("ops ALL=(root) NOPASSWD: dmesg,=\n"), 0o440); err != nil {
		t.Fatal(err)
	}
	if exec.CommandContext(t.Context(), visudo, "-cf", file+"-bad").Run() == nil {
		t.Error("visudo accepts an invalid file")
	}
}

func TestSudoersOfOneGate(t *testing.T) {
	t.Parallel()
	s, p := exampleWithProfile(t)
	for name, want := range map[string]string{"node": "dmesg", "fabric": "sminfo", "training": "no commands as root"} {
		data, err := gate.Sudoers(s, p, "ops", []string{name}, nil)
		if err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s: %v\n%s", name, err, data)
		}
		if name != "fabric" && strings.Contains(string(data), "sminfo") {
			t.Errorf("%s has commands of another gate:\n%s", name, data)
		}
	}
	for _, user := range []string{"", "ops ALL=(ALL) NOPASSWD: ALL\nx", "%wheel", "ALL,ops", "1000", "#0"} {
		if data, err := gate.Sudoers(s, p, user, site.Gates(), nil); err == nil {
			t.Errorf("user %q: %s", user, data)
		}
	}
	if _, err := gate.Sudoers(s, p, "ops", site.Gates(), map[string]string{"dmesg": "bin/dmesg"}); err == nil {
		t.Error("a relative path is taken")
	}
}
