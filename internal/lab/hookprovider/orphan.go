package hookprovider

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/firstlight/firstlight/internal/lab/process"
)

// killUnregistered kills the processes of a lab that have not registered yet, because their
// starter may have been killed first. They are identified by both --name and --dir.
func killUnregistered(name, dir string) error {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return fmt.Errorf("list the processes of lab %s: %w", name, err)
	}
	var found []process.Identity
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue // not a process, or this one
		}
		id, err := process.Identify(pid)
		if err != nil {
			continue // exited in the meantime
		}
		raw, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err != nil {
			continue // exited, or another user's
		}
		if supervises(raw, name, dir) {
			found = append(found, id)
		}
	}
	if err := process.Kill(found); err != nil {
		return fmt.Errorf("kill the processes of lab %s: %w", name, err)
	}
	return nil
}

// supervises reports whether a command line is that of a lab's process.
func supervises(cmdline []byte, name, dir string) bool {
	args := bytes.Split(cmdline, []byte{0})
	has := func(arg string) bool {
		return slices.ContainsFunc(args, func(a []byte) bool { return string(a) == arg })
	}
	return has("--name="+name) && has("--dir="+dir)
}
