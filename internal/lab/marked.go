package lab

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"github.com/firstlight/firstlight/internal/lab/process"
)

// markedProcesses finds the processes that carry a lab's mark in the
// environment they were started with.
func markedProcesses(id string) ([]process.Identity, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("look for the lab's processes: %w", err)
	}
	mark := []byte(Marker + "=" + id)
	var found []process.Identity
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue // not a process
		}
		before, err := process.Identify(pid)
		if err != nil {
			continue // gone meanwhile
		}
		environ, err := os.ReadFile("/proc/" + e.Name() + "/environ")
		if err != nil {
			continue // another user's, or gone: not of this lab
		}
		for v := range bytes.SplitSeq(environ, []byte{0}) {
			if bytes.Equal(v, mark) {
				found = append(found, before)
				break
			}
		}
	}
	return found, nil
}
