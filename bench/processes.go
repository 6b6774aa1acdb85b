package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// usage is what processes have used.
type usage struct {
	cpu    float64 // s
	memory float64 // bytes: the largest resident set of each
}

// clockTicks is USER_HZ, in which /proc has times: 100 on every Linux.
const clockTicks = 100

// processesIn is the usage of the processes that have a directory or a file of it in their arguments: those
// of a lab. A lab without processes is an error.
func processesIn(dir string) (usage, error) {
	args, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return usage{}, fmt.Errorf("list processes: %w", err)
	}
	var sum usage
	found := 0
	for _, file := range args {
		line, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(line, []byte(dir+"/")) && !bytes.Contains(line, []byte(dir+"\x00")) {
			continue // ended, or another's
		}
		of, err := usageOf(filepath.Dir(file))
		if errors.Is(err, os.ErrNotExist) {
			continue // ended
		}
		if err != nil {
			return usage{}, err
		}
		sum.cpu, sum.memory = sum.cpu+of.cpu, sum.memory+of.memory
		found++
	}
	if found == 0 {
		return usage{}, fmt.Errorf("no process has %s or a file of it in its arguments", dir)
	}
	return sum, nil
}

// usageOf reads /proc/PID.
func usageOf(process string) (usage, error) {
	stat, err := os.ReadFile(filepath.Join(process, "stat"))
	if err != nil {
		return usage{}, fmt.Errorf("read a process: %w", err)
	}
	status, err := os.ReadFile(filepath.Join(process, "status"))
	if err != nil {
		return usage{}, fmt.Errorf("read a process: %w", err)
	}
	return parseUsage(string(stat), string(status))
}

// parseUsage reads utime and stime, fields 14 and 15 of stat (proc_pid_stat(5)), and VmHWM of status. The
// name of the program, field 2, may have spaces and parentheses.
func parseUsage(stat, status string) (usage, error) {
	const state, utime, stime = 3, 14, 15
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) <= stime-state {
		return usage{}, fmt.Errorf("invalid stat of a process: %q", stat)
	}
	var u usage
	for _, field := range []int{utime, stime} {
		ticks, err := strconv.ParseFloat(fields[field-state], 64)
		if err != nil {
			return usage{}, fmt.Errorf("invalid times of a process: %w", err)
		}
		u.cpu += ticks / clockTicks
	}
	for line := range strings.Lines(status) {
		text, ok := strings.CutPrefix(line, "VmHWM:")
		if !ok {
			continue
		}
		kB, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), " kB"), 64)
		if err != nil {
			return usage{}, fmt.Errorf("invalid memory of a process: %w", err)
		}
		u.memory = 1024 * kB
	}
	return u, nil // of a process that has ended, VmHWM is missing
}
