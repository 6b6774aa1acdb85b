package sudo_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/probe/sudo"
	"github.com/firstlight/firstlight/internal/site"
)

// Only sudo's own line is unwrapped: another use of sudo is left as it is.
func TestArgv(t *testing.T) {
	t.Parallel()
	command := []string{"dcgmi", "diag", "-r", "3"}
	if got := sudo.Argv(site.SSH{}, command); !slices.Equal(got, command) {
		t.Errorf("without become: %q", got)
	}
	line := sudo.Argv(site.SSH{Become: site.Sudo}, command)
	if want := "sudo -n -- dcgmi diag -r 3"; strings.Join(line, " ") != want {
		t.Errorf("%q, want %q", line, want)
	}
	if got, ok := sudo.Command(line); !ok || !slices.Equal(got, command) {
		t.Errorf("%q, %t", got, ok)
	}
	for _, other := range [][]string{nil, command, {"sudo"}, {"sudo", "-n", "--"}, {"sudo", "dmesg"}, {"sudo", "-n", "-l", "--", "dmesg"}} {
		if got, ok := sudo.Command(other); ok {
			t.Errorf("%q runs %q with sudo", other, got)
		}
	}
}

// The messages are those of sudo 1.9.13, of sudo-rs (src/common/error.rs; Ubuntu's begin with sudo-rs:) and of
// shells; TestOpenSSHSudoRefused has them from sudo itself. An allowed command that printed one of the texts itself
// was reported as refused.
func TestRefusal(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		exit   int
		stderr string
		listed int
		want   string // empty: not refused
	}{
		"password":                    {1, "sudo: a password is required\n", 1, `ops ALL=(root) NOPASSWD: /usr/bin/dmesg ""`},
		"in another language":         {1, "sudo: Ein Passwort ist notwendig\n", 1, "Ein Passwort ist notwendig: add this line"},
		"allowed with a password":     {1, "sudo: a password is required\n", 0, "add this line"},
		"with a password, sudo-rs":    {1, "sudo: interactive authentication is required\n", 0, "NOPASSWD"},
		"Ubuntu's sudo-rs":            {1, "sudo-rs: interactive authentication is required\n", 0, "NOPASSWD"},
		"not installed, sudo-rs":      {1, "sudo-rs: 'dmesg': command not found\n", 1, "install it on the host"},
		"a password for the command":  {1, "dmesg: a password is required\n", 0, ""},
		"polkit":                      {1, "Error: interactive authentication is required\n", 0, ""},
		"a terminal for the command":  {1, "dmesg: sorry, you must have a tty to run sudo\n", 0, ""},
		"the command runs a shell":    {1, "sh: sudo: dmesg: command not found\n", 0, ""},
		"with a password, no -n":      {1, "sudo: a terminal is required to read the password; either use the -S option to read from standard input or configure an askpass helper\n", 0, "NOPASSWD"},
		"not allowed":                 {1, "Sorry, user ops is not allowed to execute '/usr/bin/dmesg' as root on gpu-01.\n", 1, "NOPASSWD"},
		"not in the sudoers file":     {1, "ops is not in the sudoers file.\n", 1, "NOPASSWD"},
		"no terminal":                 {1, "sudo: sorry, you must have a tty to run sudo\n", 1, "add this line to the sudoers of the host: Defaults:ops !requiretty"},
		"no terminal, listed":         {1, "sudo: sorry, you must have a tty to run sudo\n", 0, "Defaults:ops !requiretty"},
		"no output":                   {1, "", 1, "it printed no reason: add this line"},
		"after a warning":             {1, "sudo: unable to resolve host gpu-01: Name or service not known\nsudo: a password is required\n", 1, "user ops: sudo: a password is required: add"},
		"not installed on the host":   {1, "sudo: dmesg: command not found\n", 1, "install it on the host"},
		"no sudo":                     {127, "sh: 1: sudo: not found\n", 127, "install sudo"},
		"no sudo, bash":               {127, "bash: line 1: sudo: command not found\n", 127, "install sudo"},
		"the command exits 1":         {1, "ibwarn: failed\n", 0, ""},
		"with a warning of sudo":      {1, "sudo: unable to resolve host gpu-01: Name or service not known\n", 0, ""},
		"the command exits 127":       {127, "dmesg: cannot find it\n", 0, ""},
		"the command exits otherwise": {226, "sudo: a password is required\n", 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := sudo.Refusal("gpu-01", "ops", []string{"dmesg"}, tt.exit, []byte(tt.stderr), tt.listed)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.want == "":
			case err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), `sudo on gpu-01 did not run "dmesg" as user ops`):
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func TestRule(t *testing.T) {
	t.Parallel()
	at := map[string]string{"x": `/opt/a b/x`}
	for want, command := range map[string][]string{
		`ops ALL=(root) NOPASSWD: /usr/bin/dmesg ""`:                      {"dmesg"},
		`ops ALL=(root) NOPASSWD: /opt/a\ b/x a\=b c\,d e\:f \* \\ \[g\]`: {"x", "a=b", "c,d", "e:f", "*", `\`, "[g]"},
	} {
		if got, err := sudo.Rule("ops", command, at); err != nil || got != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
	for user, command := range map[string][]string{"ops": {"unknown"}, "ops,root": {"dmesg"}, "": {"dmesg"}} {
		if got, err := sudo.Rule(user, command, at); err == nil {
			t.Errorf("%q: %s", user, got)
		}
	}
}
