package site

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/clitest"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/site"
)

func TestInitAndCheck(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "site.yaml")
	if _, stderr, code := clitest.Run(t, New, "site", "init", file); code != cmdutil.ExitPassed {
		t.Fatalf("site init exits %d: %s", code, stderr)
	}
	if out, stderr, code := clitest.Run(t, New, "site", "check", file); code != cmdutil.ExitPassed || !strings.Contains(out, "is valid: 4 GPU nodes") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	if _, _, code := clitest.Run(t, New, "site", "init", file); code != cmdutil.ExitUsage {
		t.Errorf("init of an existing file exits %d", code)
	}
}

// The SSH configuration of a site is resolved for its hosts; every problem has file and line.
func TestCheckOfTheSSHConfiguration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config, file := filepath.Join(dir, "ssh_config"), filepath.Join(dir, "site.yaml")
	text := strings.Replace(string(site.Example()), "    # configFile: ~/.ssh/config", "    configFile: ssh_config", 1)
	for name, tt := range map[string]struct {
		config string
		want   []string // empty: valid
	}{
		"valid":               {"Host gpu-*\n  ProxyJump ops@bastion\n", nil},
		"of another host":     {"Host other\n  ProxyCommand nc %h %p\n", nil},
		"unsupported":         {"Host gpu-02*\n  ProxyCommand nc %h %p\nHost system-*\n  BindAddress 10.0.0.1\n", []string{"ssh_config:2: ProxyCommand is not supported: use ProxyJump", "ssh_config:4: BindAddress", "2 problems"}},
		"Match exec":          {"Match exec \"true\"\n  User ops\n", []string{"ssh_config:1: Match Exec is not supported", "1 problem"}},
		"user of a jump host": {"Host gpu-*\n  ProxyJump bastion\n", []string{"no user to log in to bastion", "ProxyJump USER@HOST"}},
	} {
		for path, data := range map[string]string{config: tt.config, file: text} {
			if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		out, stderr, code := clitest.Run(t, New, "site", "check", file)
		want := cmdutil.ExitPassed
		if len(tt.want) > 0 {
			want = cmdutil.ExitUsage
		}
		if code != want {
			t.Errorf("%s: exit %d: %s%s", name, code, out, stderr)
		}
		for _, text := range tt.want {
			if !strings.Contains(out, text) {
				t.Errorf("%s: %q is not in %s", name, text, out)
			}
		}
	}
	if err := os.Remove(config); err != nil {
		t.Fatal(err)
	}
	if out, _, code := clitest.Run(t, New, "site", "check", file); code != cmdutil.ExitUsage || !strings.Contains(out, "reach.ssh.configFile") {
		t.Errorf("a missing file: exit %d: %s", code, out)
	}
}

// A file that a Helm release names and that is missing is found before the run.
func TestCheckHelmFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, secret := filepath.Join(dir, "site.yaml"), filepath.Join(dir, "password")
	text := string(site.Example()) + "\nprepare: [{gate: gpustack, helm: {release: a, chart: oci://r.example.com/a, version: v1, namespace: a, user: u, passwordFile: password}}]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, _, code := clitest.Run(t, New, "site", "check", path); code != cmdutil.ExitUsage || !strings.Contains(out, "prepare.0.helm.passwordFile: cannot read the file: open "+secret) {
		t.Errorf("without the file: exit %d: %s", code, out)
	}
	if err := os.WriteFile(secret, []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, _, code := clitest.Run(t, New, "site", "check", path); code != cmdutil.ExitPassed {
		t.Errorf("with the file: exit %d: %s", code, out)
	}
}
