package preflight

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

const (
	remedyTime     = "nothing is wrong with it by this line: run the preflight again, with a higher reach.ssh.concurrency, or for fewer nodes"
	remedyLogin    = "log in from this machine as the site's user (reach.ssh), and check address, user and key"
	remedyTool     = "install the program on the host, in the PATH of the site's user, with execute permission for that user"
	remedyHung     = "log in as the site's user and run the command: it does not end"
	remedyHungHost = "log in as the site's user and run the command: the host hangs, so read its kernel log, and reboot or power-cycle it"
	remedyModule   = "load the module on the host (modprobe), and at each boot (/etc/modules-load.d)"
	remedyModules  = "log in as the site's user and list /sys/module"
	remedyClock    = "set the host's clock: chronyc tracking, or timedatectl timesync-status"
)

// commandNotFound is the exit code of a shell for an unknown command.
const commandNotFound = 127

// judgeHosts judges hosts one by one. skew is the most that their clocks may differ; 0: no gate
// compares them.
func judgeHosts(facts []hostFacts, skew time.Duration) []Line {
	var out []Line
	var clocks []node.HostClock
	for _, f := range facts {
		if errors.Is(f.login, errOutOfTime) {
			out = append(out, unobserved("ssh", f.name, remedyTime, "%v", f.login))
			continue
		}
		if f.login != nil {
			out = append(out, loginLine(f))
			continue
		}
		out = append(out, ok("ssh", f.name, "logged in, host key known"))
		clocks = append(clocks, f.clock)
		missing := f.missingModules()
		out = append(out, f.judgeSudo()...)
		out = append(out, f.judgePrograms(missing)...)
		if f.cut {
			out = append(out, unobserved("programs", f.name, remedyTime, "%v: not every command was tried", errOutOfTime))
			continue
		}
		if f.hung != nil {
			out = append(out, stop("programs", f.name, remedyHungHost, "%v", f.hung))
			continue
		}
		out = append(out, f.judgeModules(missing)...)
	}
	if skew > 0 {
		out = append(out, judgeClocks(clocks, skew)...)
	}
	return out
}

func loginLine(f hostFacts) Line {
	remedy := remedyLogin
	if r, ok := errors.AsType[interface {
		error
		Remedy() string
	}](f.login); ok {
		remedy = r.Remedy()
	} else if errors.Is(f.login, errHung) {
		remedy = remedyHungHost
	}
	return stop("ssh", f.name, remedy, "%v", f.login)
}

// missingModules are the modules that are not loaded and that a command needs.
func (f hostFacts) missingModules() []string {
	var out []string
	if f.modulesErr != nil {
		return nil
	}
	for _, t := range f.trials {
		for _, m := range t.command.Modules {
			if !slices.Contains(f.modules, m) && !slices.Contains(out, m) {
				out = append(out, m)
			}
		}
	}
	return out
}

// judgePrograms has one line for each program, or group of programs, of the gates' commands. A
// program that fails while a module that it needs is missing is left to the line of the module.
func (f hostFacts) judgePrograms(missing []string) []Line {
	byName := map[string][]trial{}
	var names []string
	for _, t := range f.trials {
		name := strings.Join(t.command.Programs(), ", ")
		if _, known := byName[name]; !known {
			names = append(names, name)
		}
		byName[name] = append(byName[name], t)
	}
	var out []Line
	for _, name := range names {
		version, ran, where := "", false, ""
		var failed *trial
		for i, t := range byName[name] {
			ran = ran || t.command.Trial == nil
			if t.out.Origin != "" && t.out.Origin != ssh.OnHost {
				where = " in " + t.out.Origin
			}
			if t.version != "" {
				version = t.version
			}
			if t.err != nil && failed == nil {
				failed = &byName[name][i]
			}
		}
		switch {
		case failed == nil && version != "":
			out = append(out, ok(name, f.name, "runs%s, version %s", where, version))
		case failed == nil && ran:
			out = append(out, ok(name, f.name, "runs%s, and its output can be read", where))
		case failed == nil:
			out = append(out, ok(name, f.name, "found"))
		case failed.refusal() != nil: // the line of sudo
		case slices.ContainsFunc(failed.command.Modules, func(m string) bool { return slices.Contains(missing, m) }):
		default:
			out = append(out, failed.line(name, f.name))
		}
	}
	return out
}

// line is the line of a trial that failed.
func (t trial) line(name, host string) Line {
	remedy := t.command.Remedy
	if remedy == "" {
		remedy = remedyTool
	}
	said := message(t.out)
	if said != "" {
		said = "; it printed: " + said
	}
	switch {
	case t.unanswered:
		return unobserved(name, host, remedyHung, "%v", t.err)
	case t.out.Exit == commandNotFound:
		return stop(name, host, remedy, "not found%s", said)
	default:
		return stop(name, host, remedy, "cannot be used: %v%s", t.err, said)
	}
}

func (f hostFacts) judgeModules(missing []string) []Line {
	const what = "kernel modules"
	var needed []string
	for _, t := range f.trials {
		needed = append(needed, t.command.Modules...)
	}
	slices.Sort(needed)
	needed = slices.Compact(needed)
	switch {
	case len(needed) == 0:
		return nil
	case f.modulesErr != nil:
		return []Line{unobserved(what, f.name, remedyModules, "%v", f.modulesErr)}
	case len(missing) > 0:
		return []Line{stop(what, f.name, remedyModule, "not loaded: %s%s", strings.Join(missing, ", "), f.consequence(missing))}
	default:
		return []Line{ok(what, f.name, "loaded: %s", strings.Join(needed, ", "))}
	}
}

// consequence quotes the first program that fails without the modules.
func (f hostFacts) consequence(missing []string) string {
	for _, t := range f.trials {
		if t.err != nil && slices.ContainsFunc(t.command.Modules, func(m string) bool { return slices.Contains(missing, m) }) {
			return fmt.Sprintf("; %s: %v", t.command.Programs()[0], t.err)
		}
	}
	return ""
}

// judgeClocks compares the hosts' clocks as gate node does.
func judgeClocks(clocks []node.HostClock, limit time.Duration) []Line {
	const what = "clock"
	if len(clocks) == 0 {
		return nil
	}
	defects, local := node.ClockDefects(clocks, limit)
	var out []Line
	for _, c := range clocks {
		i := slices.IndexFunc(defects, func(d node.ClockDefect) bool { return d.Host == c.Host })
		switch {
		case i < 0:
			out = append(out, ok(what, c.Host, "agrees with the other hosts within %s", limit))
		case defects[i].Unknown:
			out = append(out, unobserved(what, c.Host, remedyClock, "%s", defects[i].Message))
		default:
			out = append(out, stop(what, c.Host, remedyClock, "%s", defects[i].Message))
		}
	}
	if local != "" {
		out = append(out, ok(what, "this machine", "%s: gates compare hosts with each other", local))
	}
	return out
}
