// Package hostcommand describes the commands that gates run on hosts. The gates make it from their own
// tables of commands; a preflight tries the commands without load.
package hostcommand

import (
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/probe/sudo"
)

// Command is a command that a gate runs on hosts.
type Command struct {
	// Gate is the name of the gate.
	Gate string
	// Hosts are names of the inventory.
	Hosts []string
	Argv  []string
	// Trial replaces Argv in a preflight if Argv loads GPUs or the fabric, or takes minutes. nil:
	// Argv itself.
	Trial []string
	// Read refuses an output of the trial that shows that the gate could not use the command. It
	// returns the version of the program; empty if the output has none.
	Read func(ssh.Output) (version string, err error)
	// Modules are the kernel modules that the program needs.
	Modules []string
	// Remedy is the next action for a command that cannot be used; empty: install the program.
	Remedy string
}

// Tried is the command that a preflight runs.
func (c Command) Tried() []string {
	if c.Trial != nil {
		return c.Trial
	}
	return c.Argv
}

// Installed is a trial that finds a program in the PATH and does not run it.
func Installed(program string) []string {
	return []string{"sh", "-c", "command -v " + ssh.Quote([]string{program})}
}

// Programs are the programs that Argv runs, without sudo and echo: its first word, or the first word of each
// command of sh -c.
func (c Command) Programs() []string {
	argv := c.Argv
	if command, ok := sudo.Command(argv); ok {
		argv = command
	}
	return ssh.Programs(argv)
}
