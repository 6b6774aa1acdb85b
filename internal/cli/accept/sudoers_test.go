package accept

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/clitest"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/site"
)

func TestSudoers(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	example := string(site.Example())
	write := func(text string) string {
		t.Helper()
		file := filepath.Join(t.TempDir(), "site.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	ops := write(strings.Replace(example, "    user: root\n", "    user: ops\n    become: sudo\n", 1))
	file := write(strings.Replace(strings.Replace(example, "    user: root\n", "    become: sudo\n", 1), "    # configFile:", "    configFile:", 1))
	for line, want := range map[string]string{
		"--site " + ops: `ops ALL=(root) NOPASSWD: /usr/bin/dmesg ""`,
		"--site " + ops + " --user acceptance --path dmesg=/opt/bin/dmesg": `acceptance ALL=(root) NOPASSWD: /opt/bin/dmesg ""`,
		"--site " + ops + " --only fabric":                                 "ops ALL=(root) NOPASSWD: /usr/sbin/iblinkinfo -l",
		"--site " + file + " --user ops":                                   "ops ALL=(root) NOPASSWD: /usr/bin/dmesg",
	} {
		out, stderr, code := clitest.Run(t, New, append([]string{"accept", "sudoers"}, strings.Fields(line)...)...)
		if code != cmdutil.ExitPassed || !strings.Contains(out, want) {
			t.Errorf("%s exits %d: %s%s, want %q", line, code, out, stderr, want)
		}
		if strings.Contains(line, "--only") && strings.Contains(out, "dmesg") {
			t.Errorf("%s prints commands of another gate: %s", line, out)
		}
	}
	for line, want := range map[string]string{
		"":                            "reach.ssh.become of the site is not sudo",
		"--site " + write(example):    "reach.ssh.become of the site is not sudo",
		"--site " + file:              "--user",
		"--site " + ops + " --only x": "unknown gate",
		"--site " + ops + " --path dmesg=bin/dmesg": "absolute path",
		"--site " + ops + " --user ALL,x":           "invalid user name",
	} {
		if out, stderr, code := clitest.Run(t, New, append([]string{"accept", "sudoers"}, strings.Fields(line)...)...); code != cmdutil.ExitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s exits %d: %s%s, want %q", line, code, out, stderr, want)
		}
	}
}
