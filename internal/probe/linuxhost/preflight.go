package linuxhost

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// ClockCommand prints the clock of a host. ParseClock reads its output.
func ClockCommand() []string { return []string{"date", "+%s.%N"} }

// ParseClock parses the output of ClockCommand.
func ParseClock(data []byte) (time.Time, error) {
	return guard.Parse("host clock", func() (time.Time, error) {
		at, err := moment(string(data))
		if err == nil && at.IsZero() {
			err = fmt.Errorf("read host clock: %.80q: expected seconds and nanoseconds", data)
		}
		return at, err
	})
}

// moduleDir has a directory for each module of the kernel.
const moduleDir = "/sys/module/"

// ModulesCommand lists those of the named modules that the kernel has. It exits non-zero if it has
// not all of them. ParseModules reads its output.
func ModulesCommand(names []string) []string {
	argv := []string{"ls", "-d"}
	for _, name := range names {
		argv = append(argv, moduleDir+name)
	}
	return argv
}

// ParseModules parses the output of ModulesCommand: the names of the modules that the kernel has.
// An output without any line on either stream is an error.
func ParseModules(stdout, stderr []byte) ([]string, error) {
	return guard.Parse("kernel modules", func() ([]string, error) { return modules(stdout, stderr) })
}

func modules(stdout, stderr []byte) ([]string, error) {
	names := []string{}
	for line := range strings.Lines(string(stdout)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), moduleDir); ok {
			names = append(names, name)
		}
	}
	if len(names) == 0 && !strings.Contains(string(stderr), moduleDir) {
		return nil, errors.New("list kernel modules: the output names no directory of " + moduleDir)
	}
	return names, nil
}
