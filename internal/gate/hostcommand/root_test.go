package hostcommand_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/gate/hostcommand"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/site"
)

func TestAsRoot(t *testing.T) {
	t.Parallel()
	become := site.SSH{User: "ops", Become: site.Sudo}
	read := func(ssh.Output) (string, error) { return "1.0", nil }
	for name, tt := range map[string]struct {
		command hostcommand.Command
		want    []string // lines that a preflight runs
	}{
		"as itself":  {hostcommand.Command{Argv: []string{"dmesg"}}, []string{"sudo -n -- dmesg"}},
		"installed":  {hostcommand.Command{Argv: []string{"iblinkinfo", "-l"}, Trial: hostcommand.Installed("iblinkinfo")}, []string{"sudo -n -l -- iblinkinfo -l"}},
		"with trial": {hostcommand.Command{Argv: []string{"dcgmi", "diag"}, Trial: []string{"dcgmi", "discovery", "-l"}}, []string{"dcgmi discovery -l", "sudo -n -l -- dcgmi diag"}},
	} {
		tt.command.Read = read
		var got []string
		commands := tt.command.AsRoot(become)
		for _, c := range commands {
			got = append(got, strings.Join(c.Tried(), " "))
			if programs := c.Programs(); !slices.Equal(programs, tt.command.Argv[:1]) {
				t.Errorf("%s: programs %q", name, programs)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		if plain := tt.command.AsRoot(site.SSH{User: "root"}); len(plain) != 1 || !slices.Equal(plain[0].Tried(), tt.command.Tried()) {
			t.Errorf("%s: without become %+v", name, plain)
		}
		last := commands[len(commands)-1]
		if last.Trial == nil {
			continue
		}
		if _, err := last.Read(ssh.Output{}); err != nil {
			t.Errorf("%s: allowed: %v", name, err)
		}
		if _, err := last.Read(ssh.Output{Exit: 1}); err == nil || !strings.Contains(err.Error(), "ops ALL=(root) NOPASSWD: /usr/") || !strings.Contains(last.Remedy, "accept sudoers") {
			t.Errorf("%s: refused: %v, remedy %s", name, err, last.Remedy)
		}
	}
}
