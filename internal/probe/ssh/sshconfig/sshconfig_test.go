package sshconfig_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/ssh/sshconfig"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// configs are resolved for some hosts by this package and by ssh -G, which must agree.
var configs = map[string]struct {
	text  string
	hosts []string
}{
	"empty":                {"", []string{"gpu-01"}},
	"first value counts":   {"Host gpu-*\n  Port 2201\n  User a\nHost *\n  Port 2202\n  User b\n", []string{"gpu-01", "other"}},
	"before any host":      {"User first\nHost gpu-01\n  User second\n", []string{"gpu-01"}},
	"question mark":        {"Host gpu-?\n  Port 2201\nHost gpu-??\n  Port 2202\n", []string{"gpu-", "gpu-1", "gpu-01"}},
	"negated":              {"Host gpu-* !gpu-02\n  User ops\nHost *\n  User root\n", []string{"gpu-01", "gpu-02"}},
	"negated alone":        {"Host !gpu-02\n  User ops\nHost *\n  User root\n", []string{"gpu-01", "gpu-02"}},
	"several patterns":     {"Host a\tb   c\n  User ops\nHost *\n  User root\n", []string{"a", "b", "c", "d"}},
	"special characters":   {"Host gpu.01 g+\n  Port 2201\n", []string{"gpu.01", "gpux01", "g+", "gg"}},
	"equals and quotes":    {"Host=gpu-01\n  HostName = \"10.0.0.1\"\n  Port=2201\n  IdentityFile \"/keys/a b\"\n", []string{"gpu-01"}},
	"case and comments":    {"# top\nHOST gpu-01 # the first\n  hostname 10.0.0.1 # its address\n  PORT 2201\n\n", []string{"gpu-01"}},
	"tokens":               {"Host gpu-*\n  HostName %h.example.com\nHost %*\n  HostName %%h\n", []string{"gpu-01"}},
	"identities add up":    {"Host gpu-01\n  IdentityFile /keys/a\n  IdentityFile /keys/b\nHost *\n  IdentityFile /keys/c\n  IdentitiesOnly yes\n", []string{"gpu-01", "x"}},
	"certificates":         {"Host *\n  CertificateFile /keys/a-cert.pub\n  CertificateFile /keys/b-cert.pub\n  IdentityFile /keys/a\n", []string{"x"}},
	"known hosts":          {"Host gpu-01\n  UserKnownHostsFile /k/one /k/two\n  GlobalKnownHostsFile /k/three\nHost *\n  UserKnownHostsFile /k/four\n", []string{"gpu-01", "x"}},
	"no known hosts":       {"UserKnownHostsFile /dev/null\nStrictHostKeyChecking no\nGlobalKnownHostsFile none\n", []string{"x"}},
	"jumps":                {"Host gpu-*\n  ProxyJump a,ops@b:2222,c\nHost c\n  ProxyJump none\nHost *\n  ProxyJump d\n", []string{"gpu-01", "c", "x"}},
	"jump by URI":          {"Host *\n  ProxyJump ssh://ops@b:2222\n", []string{"x"}},
	"jump by IPv6 address": {"Host *\n  ProxyJump ops@[::1]:2222\n", []string{"x"}},
	"match all":            {"Host gpu-01\n  User a\nMatch all\n  User b\n  Port 2201\n", []string{"gpu-01", "x"}},
	"alias of the key":     {"Host *\n  HostKeyAlias %h-key\n  HostName 10.0.0.1\n", []string{"x"}},
	"agent":                {"Host a\n  IdentityAgent /run/agent\nHost b\n  IdentityAgent none\n", []string{"a", "b", "c"}},
	"harmless options":     {"Host *\n  ServerAliveInterval 5\n  ControlMaster no\n  ForwardAgent yes\n  Compression yes\n  ProxyCommand none\n  CanonicalizeHostname no\n", []string{"x"}},
	"address family":       {"Host a\n  AddressFamily inet\nHost b\n  AddressFamily inet6\n", []string{"a", "b", "c"}},
	"carriage returns":     {"Host gpu-01\r\n  Port 2201\r\n  User ops\r\n", []string{"gpu-01"}},
	"no newline at end":    {"Host gpu-01\n  User ops", []string{"gpu-01"}},
}

func TestAsSSHDoes(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ssh"); err != nil {
		t.Skip("needs OpenSSH's client, to compare with ssh -G: apt-get install openssh-client")
	}
	for name, tt := range configs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := write(t, "config", tt.text)
			for _, host := range tt.hosts {
				compare(t, file, host)
			}
		})
	}
}

// Include applies where it is: inside a Host block for its hosts only, and the block continues after it.
func TestInclude(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ssh"); err != nil {
		t.Skip("needs OpenSSH's client, to compare with ssh -G: apt-get install openssh-client")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.conf": "User of-a\nHost gpu-02\n  Port 2202\n", "b.conf": "Host *\n  Port 2203\n",
		"config": "Include " + dir + "/missing\nHost gpu-*\n  Include " + dir + "/*.conf\n  IdentityFile /keys/after\nHost *\n  User last\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, host := range []string{"gpu-01", "gpu-02", "x"} {
		compare(t, filepath.Join(dir, "config"), host)
	}
}

// compare resolves a host by this package and by ssh -G.
func compare(t *testing.T, file, host string) {
	t.Helper()
	config, err := sshconfig.Load(file)
	if err != nil {
		t.Errorf("%s: %v", host, err)
		return
	}
	h, err := config.Host(host, "", "")
	if err != nil {
		t.Errorf("%s: %v", host, err)
		return
	}
	theirs := printed(t, file, host)
	ours := map[string][]string{
		"hostname": {h.HostName}, "port": {h.Port}, "identitiesonly": {map[bool]string{true: "yes", false: "no"}[h.IdentitiesOnly]},
		"certificatefile": h.CertificateFiles, "addressfamily": {map[string]string{"tcp": "any", "tcp4": "inet", "tcp6": "inet6"}[h.Network]},
	}
	if h.User != "" { // ssh has the name of the local user otherwise
		ours["user"] = []string{h.User}
	}
	if len(h.IdentityFiles) > 0 { // ssh has default files otherwise
		ours["identityfile"] = h.IdentityFiles
	}
	if h.HostKeyAlias != "" {
		theirs["hostkeyalias"] = []string{strings.ReplaceAll(theirs["hostkeyalias"][0], "%h", h.HostName)}
		ours["hostkeyalias"] = []string{h.HostKeyAlias}
	}
	if h.Agent != "" || h.NoAgent {
		ours["identityagent"] = []string{map[bool]string{true: "none", false: h.Agent}[h.NoAgent]}
	}
	for key, want := range ours {
		if diff := cmp.Diff(theirs[key], want); diff != "" {
			t.Errorf("%s: %s (ssh, sshconfig): %s", host, key, diff)
		}
	}
	var jumps []string
	for _, j := range h.Jumps {
		jumps = append(jumps, j.String())
	}
	theirJumps := strings.ReplaceAll(strings.Join(theirs["proxyjump"], ""), "ssh://", "")
	if ours := strings.Join(jumps, ","); ours != theirJumps {
		t.Errorf("%s: jumps %q, ssh has %q", host, ours, theirJumps)
	}
	var known []string
	for _, list := range append(theirs["userknownhostsfile"], theirs["globalknownhostsfile"]...) {
		for f := range strings.FieldsSeq(list) {
			if f != "none" {
				known = append(known, f)
			}
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	for i := range known {
		known[i] = strings.Replace(known[i], "~", home, 1)
	}
	if diff := cmp.Diff(known, h.KnownHostsFiles); diff != "" {
		t.Errorf("%s: known hosts (ssh, sshconfig): %s", host, diff)
	}
}

// printed is what ssh -G prints for a host, by option.
func printed(t *testing.T, file, host string) map[string][]string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ssh", "-G", "-F", file, host).CombinedOutput()
	if err != nil {
		t.Fatalf("ssh -G %s: %v: %s", host, err, out)
	}
	options := map[string][]string{}
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		key, value, _ := strings.Cut(s.Text(), " ")
		options[key] = append(options[key], value)
	}
	return options
}

// An option that would change the host, the way to it or the trusted keys is an error with
// file, line and remedy; all problems of a host are in it.
func TestUnsupported(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"Match exec \"true\"\n  User x":            "config:2: Match Exec is not supported: use Host blocks",
		"Match host gpu-01 exec \"true\"\n User x": `"Match host gpu-01 exec \"true\"" is not supported`,
		"Match host gpu-*\n  User x":               "is not supported",
		"Match user root\n  Port 1":                "use Host blocks",
		"Match canonical\n  Port 1":                "use Host blocks",
		"ProxyCommand nc %h %p":                    "config:2: ProxyCommand is not supported: use ProxyJump",
		"CanonicalizeHostname yes":                 "config:2: CanonicalizeHostname is not supported",
		"KnownHostsCommand /bin/x":                 "KnownHostsCommand is not supported",
		"RevokedHostKeys /etc/ssh/revoked":         "@revoked",
		"BindAddress 10.0.0.1":                     "BindAddress is not supported",
		"PKCS11Provider /lib/x.so":                 "ssh-add -s",
		"PubkeyAuthentication no":                  "only way to log in",
		"Port ssh":                                 `config:2: invalid port "ssh"`,
		"Port 0":                                   "invalid port",
		"Port 70000":                               "invalid port",
		"IdentitiesOnly maybe":                     "want one of no, yes",
		"ProxyJump @b":                             `invalid ProxyJump "@b"`,
		"ProxyJump a,,b":                           "invalid ProxyJump",
		"HostName %C":                              "token %C is not supported",
		"IdentityFile ${FIRSTLIGHT_NOT_SET}/id":    "${FIRSTLIGHT_NOT_SET} is not set",
		"User a b":                                 "User has 2 arguments",
		"IdentityFile":                             "has no argument",
		`UserKnownHostsFile "/a b" /c`:             "quotes",
		`Host "a b"`:                               "quotes are not supported",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			config, err := sshconfig.Load(write(t, "config", "Host *\n"+line+"\n"))
			if err == nil {
				_, err = config.Host("gpu-01", "", "")
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
	config, err := sshconfig.Load(write(t, "config", "ProxyCommand x\nPort y\nHost other\n  BindInterface z\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = config.Host("gpu-01", "", "")
	for _, want := range []string{"config:1: ProxyCommand", "config:2: invalid port"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v has not %q", err, want)
		}
	}
	if strings.Contains(fmt.Sprint(err), "BindInterface") {
		t.Errorf("an option of another host: %v", err)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	if _, err := sshconfig.Load(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("a missing file is read")
	}
	loop := write(t, "config", "")
	if err := os.WriteFile(loop, []byte("Include "+loop+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sshconfig.Load(loop); err == nil || !strings.Contains(err.Error(), "Include") && !strings.Contains(err.Error(), "depth") {
		t.Errorf("a file that includes itself: %v", err)
	}
}

// The caller's user and port are those of ssh -l and -p.
func TestOverrides(t *testing.T) {
	t.Parallel()
	config, err := sshconfig.Load(write(t, "config", "User of-file\nPort 2201\nIdentityFile /keys/%r-%p-%h-%n\nHostName 10.0.0.1\n"))
	if err != nil {
		t.Fatal(err)
	}
	h, err := config.Host("gpu-01", "ops", "2222")
	if err != nil || h.User != "ops" || h.Port != "2222" || !slices.Equal(h.IdentityFiles, []string{"/keys/ops-2222-10.0.0.1-gpu-01"}) {
		t.Errorf("%+v, %v", h, err)
	}
}

func FuzzLoad(f *testing.F) {
	for _, c := range configs {
		f.Add(c.text)
	}
	f.Add("Match")
	f.Add("Host")
	f.Add("Host !")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(strings.ToLower(text), "include") {
			return // it may name a file of this machine
		}
		config, err := sshconfig.Load(write(t, "config", text))
		if err != nil {
			return
		}
		_, _ = config.Host("gpu-01", "", "")
	})
}
