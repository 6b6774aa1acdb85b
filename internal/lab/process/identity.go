package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Identity identifies one process: PIDs are reused, pairs of PID and start time are not (within
// one boot).
type Identity struct {
	PID int `json:"pid"`
	// Start is the start time in clock ticks since boot.
	Start uint64 `json:"start"`
}

// ErrGone is returned for a process that is not alive.
var ErrGone = errors.New("no such process")

// Identify returns the identity of the process that has this PID now.
func Identify(pid int) (Identity, error) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) { // ESRCH: it ended during the read
			return Identity{}, ErrGone
		}
		return Identity{}, fmt.Errorf("identify process %d: %w", pid, err)
	}
	st, err := parseStat(raw)
	if err != nil {
		return Identity{}, fmt.Errorf("identify process %d: %w", pid, err)
	}
	if st.ended() {
		return Identity{}, ErrGone
	}
	return Identity{PID: pid, Start: st.start}, nil
}

// Alive reports whether this process is running. A process whose state cannot be read may be
// running and is alive.
func (i Identity) Alive() bool {
	now, err := Identify(i.PID)
	if err != nil {
		return !errors.Is(err, ErrGone)
	}
	return now == i
}

// stat has the needed fields of /proc/PID/stat.
type stat struct {
	state   string
	threads uint64
	start   uint64
}

// ended reports that the process has exited, reaped or not. If only its first thread has exited,
// the others still hold ports and files.
func (s stat) ended() bool {
	return s.state == "X" || s.state == "Z" && s.threads <= 1
}

// parseStat parses /proc/PID/stat. The program name in parentheses can contain anything, so fields
// count from the last ")".
func parseStat(raw []byte) (stat, error) {
	end := bytes.LastIndexByte(raw, ')')
	if end < 0 {
		return stat{}, errors.New("stat line has no program name")
	}
	const stateField, threadsField, startField = 3, 20, 22 // as numbered in proc(5)
	fields := strings.Fields(string(raw[end+1:]))
	if len(fields) <= startField-stateField {
		return stat{}, errors.New("stat line is too short")
	}
	threads, err := strconv.ParseUint(fields[threadsField-stateField], 10, 64)
	if err != nil {
		return stat{}, fmt.Errorf("threads: %w", err)
	}
	start, err := strconv.ParseUint(fields[startField-stateField], 10, 64)
	if err != nil {
		return stat{}, fmt.Errorf("start time: %w", err)
	}
	return stat{state: fields[0], threads: threads, start: start}, nil
}
