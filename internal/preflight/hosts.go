package preflight

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/firstlight/firstlight/internal/gate/hostcommand"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/probe/linuxhost"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

// Hosts runs commands on the site's hosts, with the user and the privileges that the gates have.
type Hosts interface {
	Run(ctx context.Context, host string, argv ...string) (ssh.Output, error)
}

// hostFacts are the observations of one host.
type hostFacts struct {
	name string
	// login is the error of the first command; nil if the host was reached.
	login error
	clock node.HostClock
	// modules are the loaded kernel modules; modulesErr: they are unknown.
	modules    []string
	modulesErr error
	trials     []trial
	// cut: the preflight had no time for the rest.
	cut bool
	// hung is the error of the command at the end of the host's own time; the rest was not tried.
	hung error
}

// errOutOfTime is the error of a host or controller that the preflight had no time to ask.
var errOutOfTime = errors.New("the preflight ran out of time")

// errHung is the error of a host or controller that does not answer.
var errHung = fmt.Errorf("did not answer within %s", areaWithin)

// trial is a command of a gate that was tried on a host.
type trial struct {
	command hostcommand.Command
	out     ssh.Output
	// err is set if the command was not run, or its output cannot be used.
	err error
	// unanswered: the command did not end in time.
	unanswered bool
	version    string
}

// observeHosts tries the commands of the gates on their hosts, several hosts at a time.
func observeHosts(ctx context.Context, hosts Hosts, commands []hostcommand.Command, concurrency int) []hostFacts {
	var facts []hostFacts
	for _, c := range commands {
		for _, name := range c.Hosts {
			if !slices.ContainsFunc(facts, func(f hostFacts) bool { return f.name == name }) {
				facts = append(facts, hostFacts{name: name})
			}
		}
	}
	var work errgroup.Group
	work.SetLimit(max(1, concurrency))
	for i := range facts {
		work.Go(func() error {
			facts[i].observe(ctx, hosts, commands)
			return nil
		})
	}
	_ = work.Wait() // no function returns an error
	return facts
}

// observe ends with area, the context of all hosts. A host that does not answer in its own time has an error.
func (f *hostFacts) observe(area context.Context, hosts Hosts, commands []hostcommand.Command) {
	ctx, cancel := context.WithTimeout(area, areaWithin)
	defer cancel()
	out, err := hosts.Run(ctx, f.name, linuxhost.ClockCommand()...)
	if err == nil && out.Exit != 0 { // of the shell, or of what grants the privileges
		err = fmt.Errorf("a first command exited %d: %s", out.Exit, message(out))
	}
	if f.login = ofTarget(area, ctx, err); f.login != nil {
		return
	}
	f.clock = node.HostClock{Host: f.name, AskedAt: out.At, AnsweredAt: out.At.Add(out.Took)}
	if now, err := linuxhost.ParseClock(out.Stdout); err == nil {
		f.clock.Clock, f.clock.ClockAfter = now, now
	}
	var modules []string
	tried := map[string]trial{}
	for _, c := range commands {
		if !slices.Contains(c.Hosts, f.name) {
			continue
		}
		modules = append(modules, c.Modules...)
		line := ssh.Quote(c.Tried())
		t, known := tried[line]
		if !known {
			t = try(ctx, hosts, f.name, c)
			if area.Err() != nil {
				f.cut, f.modulesErr = true, errOutOfTime
				return
			}
			if ctx.Err() != nil {
				f.hung = fmt.Errorf("%s: %w", line, errHung)
				return
			}
			tried[line] = t
		}
		t.command = c
		f.trials = append(f.trials, t)
	}
	if len(modules) > 0 {
		f.observeModules(ctx, hosts, modules)
		f.cut = area.Err() != nil
	}
}

// ofTarget is the error of a host or controller: errOutOfTime if its area has no time, errHung if it did not answer in its own.
func ofTarget(area, target context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case area.Err() != nil:
		return errOutOfTime
	case target.Err() != nil:
		return fmt.Errorf("%w: %w", errHung, err)
	default:
		return err
	}
}

// trialWithin limits one command: none of them takes more than seconds.
const trialWithin = time.Minute

func try(ctx context.Context, hosts Hosts, host string, c hostcommand.Command) trial {
	ctx, cancel := context.WithTimeout(ctx, trialWithin)
	defer cancel()
	t := trial{command: c}
	if t.out, t.err = hosts.Run(ctx, host, c.Tried()...); t.err != nil {
		t.unanswered = ctx.Err() != nil
		return t
	}
	t.version, t.err = c.Read(t.out)
	return t
}

// observeModules lists which modules the kernel has: each has a directory in /sys/module.
func (f *hostFacts) observeModules(ctx context.Context, hosts Hosts, names []string) {
	slices.Sort(names)
	out, err := hosts.Run(ctx, f.name, linuxhost.ModulesCommand(slices.Compact(names))...)
	if err == nil {
		f.modules, err = linuxhost.ParseModules(out.Stdout, out.Stderr)
	}
	f.modulesErr = err
}

// message is the first line that a program printed, stderr first.
func message(out ssh.Output) string {
	for _, stream := range [][]byte{out.Stderr, out.Stdout} {
		for line := range strings.Lines(strings.ToValidUTF8(string(stream), "?")) {
			const width = 200
			if line = strings.TrimSpace(line); line != "" {
				return line[:min(len(line), width)]
			}
		}
	}
	return ""
}
