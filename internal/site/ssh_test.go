package site_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/site"
)

// withSSH is the example with other lines in reach.ssh: each replaces the line of its key, or
// is added.
func withSSH(t *testing.T, lines ...string) string {
	t.Helper()
	text := string(site.Example())
	begin := strings.Index(text, "  ssh:")
	end := strings.Index(text, "  kubernetes:\n")
	if begin < 0 || end < begin {
		t.Fatal("the example has no reach.ssh")
	}
	return text[:begin] + "  ssh:\n    " + strings.Join(lines, "\n    ") + "\n" + text[end:]
}

func TestSSHIsValidated(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		lines []string
		want  []string
	}{
		"nothing":                   {[]string{"concurrency: 16"}, []string{"reach.ssh.user: is missing", "reach.ssh.knownHostsFile: is missing"}},
		"a user of a command line":  {[]string{"user: -oProxyCommand=x", "knownHostsFile: k"}, []string{`reach.ssh.user: invalid user name "-oProxyCommand=x"`}},
		"one and several keys":      {[]string{"user: root", "knownHostsFile: k", "identityFile: a", "identityFiles: [b]"}, []string{"reach.ssh.identityFiles: has no effect with reach.ssh.identityFile"}},
		"a key twice":               {[]string{"user: root", "knownHostsFile: k", "identityFiles: [b, c, b]"}, []string{"reach.ssh.identityFiles.2: duplicate"}},
		"an empty certificate":      {[]string{"user: root", "knownHostsFile: k", "certificateFiles: ['']"}, []string{"reach.ssh.certificateFiles.0: is empty"}},
		"a passphrase for no key":   {[]string{"user: root", "knownHostsFile: k", "passphraseFile: p"}, []string{"reach.ssh.passphraseFile: has no effect"}},
		"another way to be root":    {[]string{"user: ops", "knownHostsFile: k", "become: su"}, []string{`reach.ssh.become: "su" is not sudo`}},
		"root needs no sudo":        {[]string{"user: root", "knownHostsFile: k", "become: sudo"}, []string{"reach.ssh.become: has no effect for user root"}},
		"no connection":             {[]string{"user: root", "knownHostsFile: k", "concurrency: -1"}, []string{"reach.ssh.concurrency: -1 must be at least 1"}},
		"no time":                   {[]string{"user: root", "knownHostsFile: k", "timeout: -1s", "connectTimeout: -2s"}, []string{"duration -1s is negative", "duration -2s is negative"}},
		"longer than the command":   {[]string{"user: root", "knownHostsFile: k", "timeout: 10s", "connectTimeout: 20s"}, []string{"reach.ssh.connectTimeout: 20s is longer than reach.ssh.timeout, 10s"}},
		"an unknown key":            {[]string{"user: root", "knownHostsFile: k", "password: x"}, []string{`unknown key "password"`}},
		"an unknown fabric host":    {[]string{"user: root", "knownHostsFile: k", "fabricHost: gpu-99"}, []string{"reach.ssh.fabricHost"}},
		"a passphrase in the file?": {[]string{"user: root", "knownHostsFile: k", "passphrase: x"}, []string{`unknown key "passphrase"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := site.Parse("s.yaml", []byte(withSSH(t, tt.lines...)))
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v has not %q", err, want)
				}
			}
		})
	}
	for name, lines := range map[string][]string{
		"agent":            {"user: ops", "knownHostsFile: k"},
		"configuration":    {"configFile: ~/.ssh/config"},
		"its keys":         {"configFile: c", "passphraseFile: p", "become: sudo"},
		"several keys":     {"user: ops", "knownHostsFile: k", "identityFiles: [a, b]", "certificateFiles: [c]", "passphraseFile: p", "become: sudo"},
		"a user of a host": {"user: svc_firstlight.test-1", "knownHostsFile: k"},
	} {
		if _, err := site.Parse("s.yaml", []byte(withSSH(t, lines...))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// ~ is the home directory: a site file with "~/.ssh/id_ed25519", which messages proposed, once led
// to a directory named ~ next to the file.
func TestPathsOfSSH(t *testing.T) {
	t.Parallel()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "s.yaml")
	text := withSSH(t, "identityFiles: [~/.ssh/id, keys/id, /abs/id]", "certificateFiles: [cert]", "passphraseFile: p", "configFile: ~/.ssh/config")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := site.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	r := s.Reach.SSH
	got := slices.Concat(r.Identities(), r.CertificateFiles, []string{r.PassphraseFile, r.ConfigFile, r.KnownHostsFile})
	want := []string{home + "/.ssh/id", dir + "/keys/id", "/abs/id", dir + "/cert", dir + "/p", home + "/.ssh/config", ""}
	if !slices.Equal(got, want) {
		t.Errorf("paths %q, want %q", got, want)
	}
	if r.ConnectTimeout.D() != site.DefaultSSHConnectTimeout || r.Timeout.D() != site.DefaultSSHTimeout {
		t.Errorf("times %s and %s", r.ConnectTimeout.D(), r.Timeout.D())
	}
}
