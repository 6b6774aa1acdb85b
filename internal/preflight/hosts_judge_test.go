package preflight

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/gate/hostcommand"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/probe/sudo"
	"github.com/firstlight/firstlight/internal/site"
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

// refuse has sudo refuse commands of a host, with one message.
func refuse(f *hostFacts, message string, programs ...string) {
	for i := range f.trials {
		t := &f.trials[i]
		if program := t.command.Argv[0]; slices.Contains(programs, program) {
			t.err = sudo.Refusal(f.name, "ops", []string{program}, 1, []byte(message), 1)
			t.command.Argv = sudo.Argv(site.SSH{Become: site.Sudo}, t.command.Argv)
		}
	}
}

// The remedy of a refusal is what the host lacks: a rule, or the permission to run without a terminal.
func TestRemediesOfSudo(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"sudo: a password is required\n":                 "firstlight accept sudoers",
		"sudo: sorry, you must have a tty to run sudo\n": "Defaults:ops !requiretty",
	} {
		f := healthyHost("a", time.Time{})
		refuse(&f, message, "dmesg")
		if lines := f.judgeSudo(); len(lines) != 1 || !strings.Contains(lines[0].Remedy, want) {
			t.Errorf("%q: %+v, want %q", message, lines, want)
		}
	}
	f := healthyHost("a", time.Time{})
	f.trials[3].command.Argv = sudo.Argv(site.SSH{Become: site.Sudo}, f.trials[3].command.Argv)
	if lines := f.judgeSudo(); len(lines) != 1 || lines[0].Result != OK {
		t.Errorf("allowed: %+v", lines)
	}
}

// sudo was reported as allowed for commands whose trials did not run: in time, over the connection, or at all.
func TestSudoOfTrialsThatFailed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil func(t *trial)
		want  int
	}{
		"both ran":        {func(*trial) {}, 1},
		"timeout":         {func(t *trial) { t.err, t.unanswered = context.DeadlineExceeded, true }, 0},
		"connection lost": {func(t *trial) { t.err = &ssh.UnreachableError{Host: "a", Address: "a:22", Err: io.EOF} }, 0},
		"program not found": {func(t *trial) {
			t.err = sudo.Refusal("a", "ops", []string{"dmesg"}, 1, []byte("sudo: dmesg: command not found\n"), 1)
		}, 0},
		"output not readable": {func(t *trial) { t.err = errors.New("cannot be read") }, 0},
	} {
		f := healthyHost("a", time.Time{})
		for i := range 2 {
			f.trials[2+i].command.Argv = sudo.Argv(site.SSH{Become: site.Sudo}, f.trials[2+i].command.Argv)
		}
		tt.spoil(&f.trials[3])
		lines := f.judgeSudo()
		if len(lines) != tt.want || tt.want == 1 && (lines[0].Result != OK || !strings.Contains(lines[0].Observed, "the 2 commands")) {
			t.Errorf("%s: %+v, want %d lines", name, lines, tt.want)
		}
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
		"healthy":               {func(*hostFacts) {}, nil},
		"unreachable":           {func(f *hostFacts) { f.login = &ssh.UnreachableError{Host: "b", Address: "b:22", Err: unusable} }, []string{"would-stop ssh b: unreachable over SSH"}},
		"no shell":              {func(f *hostFacts) { f.login = unusable }, []string{"would-stop ssh b: cannot be read"}},
		"sudo needs a password": {func(f *hostFacts) { refuse(f, "sudo: a password is required\n", "dmesg", "sminfo") }, []string{"would-stop sudo b: does not run sminfo, dmesg as root for user ops: sudo: a password is required"}},
		"sudo has no rule": {func(f *hostFacts) {
			refuse(f, "Sorry, user ops is not allowed to execute '/usr/bin/dmesg' as root on b.\n", "dmesg")
		},
			[]string{"would-stop sudo b: does not run dmesg as root for user ops: Sorry, user ops is not allowed"}},
		"sudo needs a terminal": {func(f *hostFacts) { refuse(f, "sudo: sorry, you must have a tty to run sudo\n", "dmesg", "sminfo") }, []string{"would-stop sudo b: does not run sminfo, dmesg as root for user ops: sudo: sorry, you must have a tty"}},
		"sudo finds no program": {func(f *hostFacts) { refuse(f, "sudo: dmesg: command not found\n", "dmesg") }, []string{"would-stop dmesg b: cannot be used: sudo on b did not run"}},
		"second command":        {func(f *hostFacts) { f.trials[1].err = unusable }, []string{"would-stop nvidia-smi b: cannot be used: cannot be read"}},
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

// A host without a defect has a line for the login, for each program with its version, for the modules
// and for the clock. Each program and each module is named once.
func TestLinesOfHosts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	unusable := errors.New("cannot be read")
	trialOf := hostcommand.Installed("sminfo")
	fine := []string{
		"ok ssh a: logged in, host key known", "ok nvidia-smi a: runs, version 580.1", "ok sminfo a: runs, and its output can be read",
		"ok dmesg a: runs, and its output can be read", "ok kernel modules a: loaded: ib_umad, nvidia", "ok clock a: agrees with the other hosts within 1s",
	}
	replaced := func(i int, line ...string) []string { return slices.Concat(fine[:i], line, fine[i+1:]) }
	for name, tt := range map[string]struct {
		spoil func(f *hostFacts)
		want  []string
	}{
		"healthy":                         {func(*hostFacts) {}, fine},
		"no login":                        {func(f *hostFacts) { f.login = unusable }, []string{"would-stop ssh a: cannot be read"}},
		"the version of the last command": {func(f *hostFacts) { f.trials[1].version = "580.2" }, replaced(1, "ok nvidia-smi a: runs, version 580.2")},
		"in a container":                  {func(f *hostFacts) { f.trials[0].out.Origin = "container x" }, replaced(1, "ok nvidia-smi a: runs in container x, version 580.1")},
		"on the host":                     {func(f *hostFacts) { f.trials[0].out.Origin = ssh.OnHost }, fine},
		"only found":                      {func(f *hostFacts) { f.trials[2].command.Trial = trialOf }, replaced(2, "ok sminfo a: found")},
		"one command run, one found":      {func(f *hostFacts) { f.trials[0].version, f.trials[1].command.Trial = "", trialOf }, replaced(1, "ok nvidia-smi a: runs, and its output can be read")},
		"one command found, one run":      {func(f *hostFacts) { f.trials[0].version, f.trials[0].command.Trial = "", trialOf }, replaced(1, "ok nvidia-smi a: runs, and its output can be read")},
		"the first failure":               {func(f *hostFacts) { f.trials[0].err, f.trials[1].err = unusable, errors.New("later") }, replaced(1, "would-stop nvidia-smi a: cannot be used: cannot be read")},
		"a module of two commands":        {func(f *hostFacts) { f.modules = []string{"ib_umad"} }, replaced(4, "would-stop kernel modules a: not loaded: nvidia")},
		"two modules":                     {func(f *hostFacts) { f.modules = nil }, replaced(4, "would-stop kernel modules a: not loaded: nvidia, ib_umad")},
		"a program without its module":    {func(f *hostFacts) { f.modules, f.trials[0].err = []string{"ib_umad"}, unusable }, append(slices.Clone(fine[:1]), fine[2], fine[3], "would-stop kernel modules a: not loaded: nvidia; nvidia-smi: cannot be read", fine[5])},
		"another program fails, too":      {func(f *hostFacts) { f.modules, f.trials[3].err = []string{"ib_umad"}, unusable }, slices.Concat(fine[:3], []string{"would-stop dmesg a: cannot be used: cannot be read", "would-stop kernel modules a: not loaded: nvidia"}, fine[5:])},
		"modules unknown, program fails":  {func(f *hostFacts) { f.modules, f.modulesErr, f.trials[0].err = nil, unusable, unusable }, slices.Concat(fine[:1], []string{"would-stop nvidia-smi a: cannot be used: cannot be read"}, fine[2:4], []string{"unobserved kernel modules a: cannot be read"}, fine[5:])},
		"modules unknown":                 {func(f *hostFacts) { f.modules, f.modulesErr = nil, unusable }, replaced(4, "unobserved kernel modules a: cannot be read")},
		"no module needed":                {func(f *hostFacts) { f.trials, f.modulesErr = f.trials[3:], unusable }, []string{fine[0], fine[3], fine[5]}},
		"one module needed":               {func(f *hostFacts) { f.trials = f.trials[2:3] }, []string{fine[0], fine[2], "ok kernel modules a: loaded: ib_umad", fine[5]}},
		"clock unknown":                   {func(f *hostFacts) { f.clock.Clock = time.Time{} }, replaced(5, "unobserved clock a: does not report its clock")},
	} {
		f := healthyHost("a", now)
		tt.spoil(&f)
		requireAll(t, name, judgeHosts([]hostFacts{f}, time.Second), tt.want...)
	}
	requireAll(t, "no gate compares clocks", judgeHosts([]hostFacts{healthyHost("a", now)}, 0), fine[:5]...)
	var late []node.HostClock
	for _, host := range []string{"a", "b", "c"} {
		c := healthyHost(host, now).clock
		c.Clock, c.ClockAfter = c.Clock.Add(time.Minute), c.ClockAfter.Add(time.Minute)
		late = append(late, c)
	}
	const agrees = ": agrees with the other hosts within 1s"
	requireAll(t, "the clock of this machine", judgeClocks(late, time.Second), "ok clock a"+agrees, "ok clock b"+agrees, "ok clock c"+agrees,
		"ok clock this machine: its clock differs from that of most nodes by at least 59.999s: gates compare hosts with each other")
	requireAll(t, "no clocks", judgeClocks(nil, time.Second))
}
