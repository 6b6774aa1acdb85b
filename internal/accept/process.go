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

// process identifies the holder of a run's Lease.
type process struct {
	host string // host name
	pid  int
	// start is its start time in clock ticks since boot.
	start string
	// machine is a digest of the boot ID and the PID namespace, in which pid and start are valid.
	machine string
	// nonce distinguishes the runs of one process.
	nonce string
}

func thisProcess() (process, error) {
	host, err := os.Hostname()
	if err != nil {
		return process{}, fmt.Errorf("identify this process: %w", err)
	}
	var nonce [4]byte
	if _, err := rand.Read(nonce[:]); err != nil {
		return process{}, fmt.Errorf("identify this process: %w", err)
	}
	p := process{host: strings.ReplaceAll(host, "/", "-"), pid: os.Getpid(), machine: thisMachine(), nonce: hex.EncodeToString(nonce[:])}
	p.start, _ = startOf(p.pid)
	return p, nil
}

// String is the holder in the Lease.
func (p process) String() string {
	return strings.Join([]string{p.host, strconv.Itoa(p.pid), p.start, p.machine, p.nonce}, "/")
}

// processIn parses the holder of a Lease; ok is false for another format.
func processIn(holder string) (p process, ok bool) {
	parts := strings.Split(holder, "/")
	if len(parts) != 5 {
		return process{host: holder}, false
	}
	pid, err := strconv.Atoi(parts[1])
	return process{host: parts[0], pid: pid, start: parts[2], machine: parts[3], nonce: parts[4]}, err == nil && pid > 0
}

// ended reports whether a process of this machine has ended. It is false for a process of
// another machine.
func (p process) ended() bool {
	if p.machine == "" || p.start == "" || p.machine != thisMachine() {
		return false
	}
	if _, visible := startOf(1); !visible {
		return false // other users' processes are hidden (hidepid)
	}
	start, alive := startOf(p.pid)
	return !alive || start != p.start
}

// thisMachine is empty if the kernel does not provide the IDs.
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

// startOf is the start time of a process in clock ticks since boot. A zombie is not alive.
func startOf(pid int) (start string, alive bool) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", false
	}
	// The program name, in parentheses, may contain spaces and parentheses.
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	const stateField, startField = 3, 22 // as numbered in proc(5)
	if len(fields) <= startField-stateField || fields[0] == "Z" || fields[0] == "X" {
		return "", false
	}
	return fields[startField-stateField], true
}
