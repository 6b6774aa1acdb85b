package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Identity names one process for good: ids are reused, a pair of id and start
// time is not (within one boot).
type Identity struct {
	PID int `json:"pid"`
	// Start is the start time in clock ticks since boot, as the kernel has it.
	Start uint64 `json:"start"`
}

// ErrGone says that no such process is alive.
var ErrGone = errors.New("no such process")

// Identify reads the identity of the process that has this id now.
func Identify(pid int) (Identity, error) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
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

// Alive says whether this very process still runs.
func (i Identity) Alive() bool {
	now, err := Identify(i.PID)
	return err == nil && now == i
}

// stat is what is needed of /proc/PID/stat.
type stat struct {
	state   string
	threads uint64
	start   uint64
}

// ended says that the process is over, reaped or not. A first thread that has
// ended while others have not is not the end: they still hold ports and files.
func (s stat) ended() bool {
	return s.state == "X" || s.state == "Z" && s.threads <= 1
}

// parseStat reads a line of /proc/PID/stat. The name of the program, in
// parentheses, may hold anything: fields count from the last ")".
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
