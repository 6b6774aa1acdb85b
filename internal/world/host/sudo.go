package host

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/world"
)

// sudoUser is the user in sudo's messages.
const sudoUser = "firstlight"

// asRoot is sudo on a host. With done, sudo has refused its command, and this is its output. Its messages are those of
// sudo 1.9 (plugins/sudoers).
func asRoot(n world.Node, argv []string) (stdout, stderr []byte, exit int, done bool) {
	if len(argv) == 0 || argv[0] != "sudo" {
		return nil, nil, 0, false
	}
	command := strip(argv)
	flags := argv[1 : len(argv)-len(command)]
	if len(command) == 0 {
		return nil, []byte("usage: sudo -h | -K | -k | -V\n"), 1, true
	}
	lists := slices.Contains(flags, "-l")
	switch n.SudoRefuses {
	case world.SudoPassword:
		return nil, []byte("sudo: a password is required\n"), 1, true
	case world.SudoTerminal:
		return nil, []byte("sudo: sorry, you must have a tty to run sudo\n"), 1, true
	case world.SudoRule:
		if lists {
			return nil, nil, 1, true
		}
		return nil, fmt.Appendf(nil, "Sorry, user %s is not allowed to execute '%s' as root on %s.\n", sudoUser, strings.Join(fullPath(command), " "), n.Name), 1, true
	}
	if !installed(n, path.Base(command[0])) {
		return nil, fmt.Appendf(nil, "sudo: %s: command not found\n", command[0]), 1, true
	}
	if lists {
		return fmt.Appendf(nil, "%s\n", strings.Join(fullPath(command), " ")), nil, 0, true
	}
	return nil, nil, 0, false
}

func fullPath(command []string) []string {
	if path.IsAbs(command[0]) {
		return command
	}
	return append([]string{"/usr/bin/" + command[0]}, command[1:]...)
}
