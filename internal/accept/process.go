package accept

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// process is the one that holds a run's Lease.
type process struct {
	host string // its name, for people
	pid  int
	// start is its start time in clock ticks since boot.
	start string
	// machine stands for the boot and the PID namespace in which pid and start count.
	machine string
	// walk tells walks of one process apart.
	walk string
}

// thisProcess is a walk of this process.
func thisProcess() (process, error) {
	host, err := os.Hostname()
	if err != nil {
		return process{}, fmt.Errorf("name this process: %w", err)
	}
	var walk [4]byte
	if _, err := rand.Read(walk[:]); err != nil {
		return process{}, fmt.Errorf("name this process: %w", err)
	}
	p := process{host: strings.ReplaceAll(host, "/", "-"), pid: os.Getpid(), machine: thisMachine(), walk: hex.EncodeToString(walk[:])}
	p.start, _ = startOf(p.pid)
	return p, nil
}

// String is how a Lease names it.
func (p process) String() string {
	return strings.Join([]string{p.host, strconv.Itoa(p.pid), p.start, p.machine, p.walk}, "/")
}

// processIn reads what a Lease says; ok is false where it says something else.
func processIn(holder string) (p process, ok bool) {
	parts := strings.Split(holder, "/")
	if len(parts) != 5 {
		return process{host: holder}, false
	}
	pid, err := strconv.Atoi(parts[1])
	return process{host: parts[0], pid: pid, start: parts[2], machine: parts[3], walk: parts[4]}, err == nil && pid > 0
}

// ended says that the process is certainly no more: it was of this machine, and is not there.
// Of one on another machine nothing is known.
func (p process) ended() bool {
	if p.machine == "" || p.start == "" || p.machine != thisMachine() {
		return false
	}
	if _, seen := startOf(1); !seen {
		return false // other users' processes are hidden (hidepid)
	}
	start, alive := startOf(p.pid)
	return !alive || start != p.start
}

// thisMachine is empty where the kernel does not say.
func thisMachine() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.TrimSpace(string(boot)) + space))
	return hex.EncodeToString(sum[:6])
}

// startOf is when a process was started, in clock ticks since boot; one that has ended and
// was not reaped is not alive.
func startOf(pid int) (start string, alive bool) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", false
	}
	// The name of the program, in parentheses, may hold anything.
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	const stateField, startField = 3, 22 // as numbered in proc(5)
	if len(fields) <= startField-stateField || fields[0] == "Z" || fields[0] == "X" {
		return "", false
	}
	return fields[startField-stateField], true
}
