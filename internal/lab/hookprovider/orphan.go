package hookprovider

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/firstlight/firstlight/internal/lab/process"
)

// endStarting ends the processes of a lab that have not yet said that they are it: whoever
// started one may have been killed before it could. They are known by the name and the
// directory that they were given, both, as whole arguments.
func killUnregistered(name, dir string) error {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return fmt.Errorf("look for the processes of lab %s: %w", name, err)
	}
	var found []process.Identity
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue // not a process, or this one
		}
		id, err := process.Identify(pid)
		if err != nil {
			continue // gone meanwhile
		}
		raw, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err != nil {
			continue // gone, or another user's: not of this lab
		}
		if supervises(raw, name, dir) {
			found = append(found, id)
		}
	}
	if err := process.Kill(found); err != nil {
		return fmt.Errorf("end the processes of lab %s: %w", name, err)
	}
	return nil
}

// supervises tells the command line of a lab's process.
func supervises(cmdline []byte, name, dir string) bool {
	args := bytes.Split(cmdline, []byte{0})
	has := func(arg string) bool {
		return slices.ContainsFunc(args, func(a []byte) bool { return string(a) == arg })
	}
	return has("--name="+name) && has("--dir="+dir)
}
