package gate

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/probe/sudo"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Sudoers is the sudoers file that lets a user run the commands of the named gates that need
// root, and no others. paths are those of programs that are elsewhere than in the
// packages of distributions.
func Sudoers(s *site.Site, p *profile.Profile, user string, names []string, paths map[string]string) ([]byte, error) {
	if err := sudo.CheckUser(user); err != nil {
		return nil, err
	}
	var rules bytes.Buffer
	for _, g := range gates(s, p, Access{}) {
		r, ok := g.(interface{ RootCommands() [][]string })
		if !ok || !slices.Contains(names, g.Name()) {
			continue
		}
		commands := r.RootCommands()
		if len(commands) > 0 {
			fmt.Fprintf(&rules, "\n# Gate %s.\n", g.Name())
		}
		for _, command := range commands {
			rule, err := sudo.Rule(user, command, paths)
			if err != nil {
				return nil, fmt.Errorf("gate %s: %w", g.Name(), err)
			}
			fmt.Fprintln(&rules, rule)
		}
	}
	if rules.Len() == 0 {
		return []byte("# The selected gates run no commands as root.\n"), nil
	}
	return fmt.Appendf(nil, sudoersHeader, s.Name, user, rules.Bytes()), nil
}

const sudoersHeader = `# Commands that firstlight accept runs as root on the hosts of site %[1]s, with exactly these
# arguments. Check with visudo -cf FILE, and install on every host as /etc/sudoers.d/firstlight,
# owner root, mode 0440. The paths are those of distributions and vendors.
Defaults:%[2]s !requiretty
%[3]s`
