package hostcommand

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/probe/sudo"
	"github.com/firstlight/firstlight/internal/site"
)

// remedyRules is the remedy for a command that sudo does not run.
const remedyRules = "install the sudoers file on the host: firstlight accept sudoers --site FILE prints it"

// AsRoot is a command that needs root, for a site: with become it runs with sudo. A trial in its
// place says nothing about sudo, so that sudo is asked, too, whether it allows the command. That also
// finds the program, in sudo's own path.
func (c Command) AsRoot(reach site.SSH) []Command {
	if reach.Become != site.Sudo {
		return []Command{c}
	}
	allowed := c
	allowed.Argv, allowed.Remedy = sudo.Argv(reach, c.Argv), remedyRules
	if c.Trial == nil {
		return []Command{allowed}
	}
	allowed.Trial = sudo.List(c.Argv)
	allowed.Read = func(out ssh.Output) (string, error) {
		if out.Exit == 0 {
			return "", nil
		}
		if err := sudo.Refusal("", cmp.Or(reach.User, "USER"), c.Argv, out.Exit, out.Stderr, out.Exit); err != nil {
			return "", err
		}
		return "", fmt.Errorf("sudo -l exited with code %d", out.Exit)
	}
	if slices.Equal(c.Trial, Installed(c.Argv[0])) {
		return []Command{allowed}
	}
	return []Command{c, allowed}
}
