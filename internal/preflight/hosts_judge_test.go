package preflight

import (
	"errors"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/gate/hostcommand"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

// healthyHost is a host on which every command was tried.
func healthyHost(name string, now time.Time) hostFacts {
	return hostFacts{
		name:    name,
		clock:   node.HostClock{Host: name, AskedAt: now, AnsweredAt: now.Add(time.Millisecond), Clock: now, ClockAfter: now},
		modules: []string{"nvidia", "ib_umad"},
		trials: []trial{
			{command: hostcommand.Command{Argv: []string{"nvidia-smi", "-q"}, Modules: []string{"nvidia"}}, version: "580.1"},
			{command: hostcommand.Command{Argv: []string{"nvidia-smi", "nvlink"}, Modules: []string{"nvidia"}}},
			{command: hostcommand.Command{Argv: []string{"sminfo"}, Modules: []string{"ib_umad"}}},
			{command: hostcommand.Command{Argv: []string{"dmesg"}, Remedy: "be root"}},
		},
	}
}

func TestJudgeHosts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	unusable := errors.New("cannot be read")
	for name, tt := range map[string]struct {
		spoil func(f *hostFacts)
		want  []string
	}{
		"healthy":        {func(*hostFacts) {}, nil},
		"unreachable":    {func(f *hostFacts) { f.login = &ssh.UnreachableError{Host: "b", Address: "b:22", Err: unusable} }, []string{"would-stop ssh b: unreachable over SSH"}},
		"no shell":       {func(f *hostFacts) { f.login = unusable }, []string{"would-stop ssh b: cannot be read"}},
		"second command": {func(f *hostFacts) { f.trials[1].err = unusable }, []string{"would-stop nvidia-smi b: cannot be used: cannot be read"}},
		"not found": {func(f *hostFacts) {
			f.trials[3].err, f.trials[3].out = unusable, ssh.Output{Exit: 127, Stderr: []byte("bash: dmesg: command not found\n")}
		}, []string{"would-stop dmesg b: not found; it printed: bash: dmesg: command not found"}},
		"hangs":                         {func(f *hostFacts) { f.trials[0].err, f.trials[0].unanswered = unusable, true }, []string{"unobserved nvidia-smi b: cannot be read"}},
		"module missing":                {func(f *hostFacts) { f.modules = []string{"nvidia"} }, []string{"would-stop kernel modules b: not loaded: ib_umad"}},
		"module missing, program fails": {func(f *hostFacts) { f.modules, f.trials[2].err = []string{"nvidia"}, unusable }, []string{"would-stop kernel modules b: not loaded: ib_umad; sminfo: cannot be read"}},
		"modules unknown, program fails": {func(f *hostFacts) { f.modulesErr, f.trials[2].err = unusable, unusable },
			[]string{"would-stop sminfo b: cannot be read", "unobserved kernel modules b: cannot be read"}},
		"clock":         {func(f *hostFacts) { f.clock.Clock, f.clock.ClockAfter = now.Add(time.Hour), now.Add(time.Hour) }, []string{"would-stop clock b: differs"}},
		"clock unknown": {func(f *hostFacts) { f.clock.Clock = time.Time{} }, []string{"unobserved clock b: does not report"}},
	} {
		facts := []hostFacts{healthyHost("a", now), healthyHost("b", now), healthyHost("c", now)}
		tt.spoil(&facts[1])
		require(t, name, judgeHosts(facts, time.Second), tt.want...)
	}
	facts := []hostFacts{healthyHost("a", now), healthyHost("b", now)}
	facts[1].clock.Clock = time.Time{}
	require(t, "no gate compares clocks", judgeHosts(facts, 0))
	if lines := judgeHosts(nil, time.Second); len(lines) != 0 {
		t.Errorf("no hosts: %+v", lines)
	}
}
