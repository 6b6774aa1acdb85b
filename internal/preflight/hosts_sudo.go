package preflight

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/sudo"
)

const (
	whatSudo    = "sudo"
	remedyRules = "install the sudoers file on the host (firstlight accept sudoers --site FILE prints it); a rule that asks for a password needs NOPASSWD"
)

// refusal is sudo's refusal of a trial that a change of the host's sudo mends; nil for another failure.
func (t trial) refusal() *sudo.RefusedError {
	if refused, ok := errors.AsType[*sudo.RefusedError](t.err); ok && refused.Cause != sudo.MissingProgram {
		return refused
	}
	return nil
}

// judgeSudo has one line for each reason why sudo does not run commands of the gates. The lines of their
// programs are left to it. Without a refusal, a trial that failed says nothing about sudo: the host then has the
// lines of its programs only.
func (f hostFacts) judgeSudo() []Line {
	var order []string
	commands, first, asked, allowed := map[string][]string{}, map[string]*sudo.RefusedError{}, 0, 0
	for _, t := range f.trials {
		if _, root := sudo.Command(t.command.Argv); root {
			asked++
			if t.err == nil {
				allowed++
			}
		}
		refused := t.refusal()
		if refused == nil {
			continue
		}
		key := refusalKey(refused)
		if first[key] == nil {
			order, first[key] = append(order, key), refused
		}
		if name := refused.Command[0]; !slices.Contains(commands[key], name) {
			commands[key] = append(commands[key], name)
		}
	}
	var out []Line
	for _, key := range order {
		refused, remedy := first[key], first[key].Remedy()
		if refused.Cause == sudo.NoRule {
			remedy = remedyRules
		}
		out = append(out, stop(whatSudo, f.name, remedy, "does not run %s as root for user %s: %s", strings.Join(commands[key], ", "), refused.User, refused.Reason))
	}
	if len(out) == 0 && asked > 0 && allowed == asked {
		out = append(out, ok(whatSudo, f.name, "runs the %d commands that need root, without a password", asked))
	}
	return out
}

// refusalKey is the same for refusals with one remedy. The message of a missing rule names the command.
func refusalKey(e *sudo.RefusedError) string {
	if e.Cause == sudo.NoRule {
		return fmt.Sprint(e.Cause)
	}
	return fmt.Sprint(e.Cause, e.Reason)
}
